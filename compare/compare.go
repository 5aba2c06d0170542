// Package compare puts this library beside others. Its tests ask the C++
// LevelDB, through the program in oracle, for the bytes and the answers that
// this library must give.
package compare
