// Package compare compares this library with others. Its tests run the programs in
// oracle, among them C++ LevelDB, and the libraries in Go, and require the same bytes and the same answers.
package compare
