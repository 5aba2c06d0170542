// The oracle: RocksDB's own Bloom filters behind standard input and output.
//
//   oracle FORMAT_VERSION build BITS_PER_KEY    reads keys, writes the encoded filter; ends with
//                                               status 3 if there is none of them
//   oracle FORMAT_VERSION query FILTER_FILE...  reads keys, writes a line for each filter: '0' or
//                                               '1' for each key
//   oracle FORMAT_VERSION hash HASH             reads keys, writes the hash of each in 16 digits
//   oracle FORMAT_VERSION time BITS_PER_KEY COLUMN_FILE...    as in timer.h
//
// Keys are as in input.h. HASH is xxph3 or signed. The version of the tables' format says which
// filter RocksDB builds: FastLocalBloom from 5 on. It reads those of all versions.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/table.h>

#include "input.h"
#include "timer.h"

// What the public headers of RocksDB 7.8 declare and do not define: the first virtual
// functions of two classes in the order of the library's, and its hashes.
namespace rocksdb {

class FilterBitsBuilder {
 public:
  virtual ~FilterBitsBuilder() {}
  virtual void AddKey(const Slice& key) = 0;
  virtual size_t EstimateEntriesAdded() = 0;
  virtual Slice Finish(std::unique_ptr<const char[]>* buffer) = 0;
};

class FilterBitsReader {
 public:
  virtual ~FilterBitsReader() {}
  virtual bool MayMatch(const Slice& key) = 0;
  virtual void MayMatch(int num_keys, Slice** keys, bool* may_match) = 0;
};

uint64_t Hash64(const char* data, size_t n);
uint32_t Hash(const char* data, size_t n, uint32_t seed);

}  // namespace rocksdb

static std::shared_ptr<const rocksdb::FilterPolicy> Policy(double bits_per_key) {
  return std::shared_ptr<const rocksdb::FilterPolicy>(rocksdb::NewBloomFilterPolicy(bits_per_key));
}

template <class Key>
static std::string Build(int format_version, double bits_per_key, const std::vector<Key>& keys) {
  rocksdb::BlockBasedTableOptions options;
  options.format_version = format_version;
  const auto policy = Policy(bits_per_key);
  std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
      policy->GetBuilderWithContext(rocksdb::FilterBuildingContext(options)));
  for (const Key& key : keys) builder->AddKey(key);
  std::unique_ptr<const char[]> buffer;
  return builder->Finish(&buffer).ToString();
}

// Time tests 32 keys a call, as RocksDB's MultiGet does.
static int Time(int format_version, double bits_per_key, const std::vector<const char*>& files) {
  using rocksdb::Slice;
  const auto policy = Policy(bits_per_key);
  std::string filter;
  std::unique_ptr<rocksdb::FilterBitsReader> reader;
  return Time<Slice>(
      files,
      [&](const std::vector<Slice>& keys) {
        filter = Build(format_version, bits_per_key, keys);
        reader.reset(policy->GetFilterBitsReader(filter));
        return filter.size();
      },
      [&](std::vector<Slice>& keys) {
        constexpr size_t batch = 32;
        Slice* pointers[batch];
        bool may_match[batch];
        size_t hits = 0;
        for (size_t i = 0; i < keys.size(); i += batch) {
          const size_t n = std::min(batch, keys.size() - i);
          for (size_t j = 0; j < n; j++) {
            pointers[j] = &keys[i + j];
            may_match[j] = true;
          }
          reader->MayMatch(static_cast<int>(n), pointers, may_match);
          hits += std::count(may_match, may_match + n, true);
        }
        return hits;
      });
}

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const std::string command = argc >= 4 ? argv[2] : "";
  if (command == "time") return Time(std::atoi(argv[1]), std::atof(argv[3]), {argv + 4, argv + argc});
  if (command != "query" && ((command != "build" && command != "hash") || argc != 4)) {
    std::cerr << "usage: oracle FORMAT_VERSION build BITS_PER_KEY | query FILTER_FILE... | hash HASH\n";
    return 2;
  }
  const std::vector<std::string> keys = ReadKeys(std::cin);
  if (command == "build") {
    if (keys.empty()) return 3;  // RocksDB's tables have no filter then
    // Pebble, which has the filter of version 4, does not take more bits as 100.
    if (std::atoi(argv[1]) < 5 && std::atoi(argv[3]) > 100) return 3;
    std::cout << Build(std::atoi(argv[1]), std::atof(argv[3]), keys);
  } else if (command == "query") {
    const auto policy = Policy(10);
    for (int i = 3; i < argc; i++) {
      const std::string_view file = MapFile(argv[i]);
      const rocksdb::Slice filter(file.data(), file.size());
      std::unique_ptr<rocksdb::FilterBitsReader> reader(policy->GetFilterBitsReader(filter));
      for (const std::string& key : keys) std::cout.put(reader->MayMatch(key) ? '1' : '0');
      std::cout.put('\n');
    }
  } else {
    for (const std::string& key : keys) {
      const uint64_t hash = std::string(argv[3]) == "xxph3" ? rocksdb::Hash64(key.data(), key.size())
                                                             : rocksdb::Hash(key.data(), key.size(), 0xbc9f1d34);
      char digits[17];
      std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
      std::cout << digits;
    }
  }
  return std::cout.flush() ? 0 : 2;
}
