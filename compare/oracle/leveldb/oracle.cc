// The oracle: LevelDB's own Bloom filter behind standard input and output.
//
//   oracle build BITS_PER_KEY    keys in, the encoded filter out
//   oracle query FILTER_FILE     keys in, one '0' or '1' a key out
//
// A key is its length, 4 little-endian bytes, and its bytes.

#include <cstdint>
#include <cstdio>
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

static std::vector<std::string> ReadKeys(std::istream& in) {
  std::vector<std::string> keys;
  unsigned char head[4];
  while (in.read(reinterpret_cast<char*>(head), sizeof head)) {
    uint32_t n = head[0] | head[1] << 8 | head[2] << 16 | uint32_t{head[3]} << 24;
    std::string key(n, '\0');
    if (!in.read(&key[0], n)) {
      std::cerr << "oracle: input ends inside a key\n";
      std::exit(2);
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

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
