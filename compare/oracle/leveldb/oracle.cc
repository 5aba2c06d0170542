// The oracle: LevelDB's own Bloom filter behind standard input and output.
//
//   oracle build BITS_PER_KEY    reads keys, writes the encoded filter
//   oracle query FILTER_FILE     reads keys, writes '0' or '1' for each
//   oracle time BITS_PER_KEY COLUMN_FILE...    reads commands, writes a line for each
//
// Keys are as in input.h. A column is a file of 8-byte keys; columns count from 0. The
// commands are
//
//   build COLUMN TIMES    build the filter of a column TIMES times
//   test COLUMN TIMES     test each key of a column with the last filter TIMES times
//
// A line has the nanoseconds of all TIMES together and the result of one time: the
// bytes of the filter, or the number of keys that may be in it.

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include "input.h"

using leveldb::Slice;
using Policy = std::unique_ptr<const leveldb::FilterPolicy>;

static std::string Build(const leveldb::FilterPolicy& policy, const std::vector<Slice>& keys) {
  std::string filter;
  policy.CreateFilter(keys.data(), static_cast<int>(keys.size()), &filter);
  return filter;
}

static int Time(int bits_per_key, const std::vector<const char*>& files) {
  const Policy policy(leveldb::NewBloomFilterPolicy(bits_per_key));
  std::vector<std::string> columns(files.begin(), files.end());
  std::vector<std::vector<Slice>> keys;
  for (std::string& column : columns) {
    column = ReadFile(column.c_str());
    keys.emplace_back();
    for (size_t i = 0; i + 8 <= column.size(); i += 8) keys.back().emplace_back(&column[i], 8);
  }
  std::string command, filter;
  for (size_t column, times; std::cin >> command >> column >> times;) {
    const auto start = std::chrono::steady_clock::now();
    size_t result = 0;
    for (; times > 0; times--) {
      if (command == "build") {
        filter = Build(*policy, keys.at(column));
        result = filter.size();
        continue;
      }
      result = 0;
      for (const Slice& key : keys.at(column)) result += policy->KeyMayMatch(key, filter);
    }
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
    std::cout << took.count() << ' ' << result << std::endl;
  }
  return 0;
}

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const std::string command = argc > 2 ? argv[1] : "";
  if (command == "time") return Time(std::atoi(argv[2]), {argv + 3, argv + argc});
  if (argc != 3 || (command != "build" && command != "query")) {
    std::cerr << "usage: oracle build BITS_PER_KEY | oracle query FILTER_FILE | oracle time BITS_PER_KEY COLUMN_FILE...\n";
    return 2;
  }
  const std::vector<std::string> keys = ReadKeys(std::cin);
  if (command == "build") {
    const Policy policy(leveldb::NewBloomFilterPolicy(std::atoi(argv[2])));
    std::cout << Build(*policy, {keys.begin(), keys.end()});
  } else {
    const Policy policy(leveldb::NewBloomFilterPolicy(10));
    const std::string filter = ReadFile(argv[2]);
    for (const std::string& key : keys) {
      std::cout.put(policy->KeyMayMatch(key, filter) ? '1' : '0');
    }
  }
  return std::cout.flush() ? 0 : 2;
}
