// The oracle: LevelDB's own Bloom filter behind standard input and output.
//
//   oracle build BITS_PER_KEY    keys in, the encoded filter out
//   oracle query FILTER_FILE     keys in, one '0' or '1' a key out
//
// Keys are as in keys.h.

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include "keys.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  if (argc != 3) {
    std::cerr << "usage: oracle build BITS_PER_KEY | oracle query FILTER_FILE\n";
    return 2;
  }
  const std::vector<std::string> keys = ReadKeys(std::cin);
  if (!std::strcmp(argv[1], "build")) {
    std::unique_ptr<const leveldb::FilterPolicy> policy(leveldb::NewBloomFilterPolicy(std::atoi(argv[2])));
    const std::vector<leveldb::Slice> slices(keys.begin(), keys.end());
    std::string filter;
    policy->CreateFilter(slices.data(), static_cast<int>(slices.size()), &filter);
    std::cout << filter;
  } else {
    std::unique_ptr<const leveldb::FilterPolicy> policy(leveldb::NewBloomFilterPolicy(10));
    std::ifstream file(argv[2], std::ios::binary);
    if (!file) {
      std::cerr << "oracle: cannot read " << argv[2] << "\n";
      return 2;
    }
    const std::string filter{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    for (const std::string& key : keys) {
      std::cout.put(policy->KeyMayMatch(key, filter) ? '1' : '0');
    }
  }
  return std::cout.flush() ? 0 : 2;
}
