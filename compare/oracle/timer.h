// The command "time" of the oracles:
//
//   oracle time BITS_PER_KEY COLUMN_FILE...    reads commands, writes a line for each
//
// A column is a file of keys; beside it lies COLUMN_FILE.ends, with 4 little-endian bytes for each key: where it ends.
// Columns count from 0. The commands are
//
//   build COLUMN TIMES    build the filter of a column TIMES times
//   test COLUMN TIMES     test each key of a column with the last filter TIMES times
//
// A line has the nanoseconds of all TIMES together and the result of one time: the
// bytes of the filter, or the number of keys that may be in it.

#include <chrono>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "input.h"

// Time runs the commands. build makes the filter of keys, of type Slice, and returns its size;
// test returns the number of keys that may be in the last one.
template <class Slice, class Build, class Test>
int Time(const std::vector<const char*>& files, Build build, Test test) {
  std::vector<std::string> columns(files.begin(), files.end());
  std::vector<std::vector<Slice>> keys;
  for (std::string& column : columns) {
    const std::string_view ends = MapFile((column + ".ends").c_str());
    column = MapFile(column.c_str());
    keys.emplace_back();
    size_t start = 0;
    for (size_t i = 0; i + 4 <= ends.size(); i += 4) {
      uint32_t end;
      std::memcpy(&end, &ends[i], sizeof end);
      keys.back().emplace_back(&column[start], end - start);
      start = end;
    }
  }
  std::string command;
  for (size_t column, times; std::cin >> command >> column >> times;) {
    const auto start = std::chrono::steady_clock::now();
    size_t result = 0;
    for (; times > 0; times--) result = command == "build" ? build(keys.at(column)) : test(keys.at(column));
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
    std::cout << took.count() << ' ' << result << std::endl;
  }
  return 0;
}
