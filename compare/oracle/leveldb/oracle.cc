// The oracle: LevelDB's own Bloom filter behind standard input and output.
//
//   oracle build BITS_PER_KEY    reads keys, writes the encoded filter
//   oracle query FILTER_FILE...  reads keys, writes a line for each filter: '0' or '1' for each key
//   oracle time BITS_PER_KEY COLUMN_FILE...    as in timer.h
//
// Keys are as in input.h.

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include "input.h"
#include "timer.h"

using leveldb::Slice;
using Policy = std::unique_ptr<const leveldb::FilterPolicy>;

static std::string Build(const leveldb::FilterPolicy& policy, const std::vector<Slice>& keys) {
  std::string filter;
  policy.CreateFilter(keys.data(), static_cast<int>(keys.size()), &filter);
  return filter;
}

static int Time(int bits_per_key, const std::vector<const char*>& files) {
  const Policy policy(leveldb::NewBloomFilterPolicy(bits_per_key));
  std::string filter;
  return Time<Slice>(
      files,
      [&](const std::vector<Slice>& keys) {
        filter = Build(*policy, keys);
        return filter.size();
      },
      [&](const std::vector<Slice>& keys) {
        size_t hits = 0;
        for (const Slice& key : keys) hits += policy->KeyMayMatch(key, filter);
        return hits;
      });
}

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const std::string command = argc > 2 ? argv[1] : "";
  if (command == "time") return Time(std::atoi(argv[2]), {argv + 3, argv + argc});
  if (command != "query" && (command != "build" || argc != 3)) {
    std::cerr << "usage: oracle build BITS_PER_KEY | oracle query FILTER_FILE... | oracle time BITS_PER_KEY COLUMN_FILE...\n";
    return 2;
  }
  const std::vector<std::string> keys = ReadKeys(std::cin);
  if (command == "build") {
    const Policy policy(leveldb::NewBloomFilterPolicy(std::atoi(argv[2])));
    std::cout << Build(*policy, {keys.begin(), keys.end()});
  } else {
    const Policy policy(leveldb::NewBloomFilterPolicy(10));
    for (int i = 2; i < argc; i++) {
      const std::string_view file = MapFile(argv[i]);
      const Slice filter(file.data(), file.size());
      for (const std::string& key : keys) std::cout.put(policy->KeyMayMatch(key, filter) ? '1' : '0');
      std::cout.put('\n');
    }
  }
  return std::cout.flush() ? 0 : 2;
}
