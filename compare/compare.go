// Package compare puts this library beside others. Its tests ask the programs in
// oracle, the C++ LevelDB among them, for the bytes and the answers that this
// library must give.
package compare
