// The oracle: nori-sstable's Bloom filter, written from its documentation with the
// XXH64 of the C library xxHash, behind standard input and output.
//
//   oracle LAYOUT build BITS_PER_KEY    reads keys, writes the encoded filter
//   oracle LAYOUT query FILTER_FILE...  reads keys, writes a line for each filter: '0' or '1' for each key,
//                                       or none if the file is no filter
//
// Keys are as in input.h. LAYOUT is
//
//   nori          num_bits u64, num_hashes u32, bits_per_key u32, bits: as documented
//   nori-crate    num_hashes u32, num_bits u64, bits: as its code writes them
//
// All numbers are little-endian. A query with the layout nori takes either layout.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <xxhash.h>

#include "input.h"

struct Filter {
  uint64_t num_bits;
  uint64_t num_hashes;
  std::string_view bits;

  template <typename Visit>
  void EachBit(const std::string& key, Visit visit) const {
    const uint64_t h1 = XXH64(key.data(), key.size(), 0);
    const uint64_t h2 = XXH64(key.data(), key.size(), 1);
    for (uint64_t i = 0; i < num_hashes; i++) visit((h1 + i * h2) % num_bits);
  }

  void Add(const std::string& key, std::string* to) const {
    EachBit(key, [&](uint64_t bit) { (*to)[bit / 8] = static_cast<char>((*to)[bit / 8] | 1 << bit % 8); });
  }

  bool MayContain(const std::string& key) const {
    if (num_bits == 0) return false;
    bool all = true;
    EachBit(key, [&](uint64_t bit) { all &= bits[bit / 8] >> bit % 8 & 1; });
    return all;
  }
};

static uint64_t Bytes(uint64_t bits) { return bits / 8 + (bits % 8 != 0); }

static void Put(uint64_t value, int bytes, std::string* out) {
  for (int i = 0; i < bytes; i++) out->push_back(static_cast<char>(value >> 8 * i));
}

static uint64_t Get(std::string_view in, size_t at, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; i++) value |= uint64_t{static_cast<unsigned char>(in[at + i])} << 8 * i;
  return value;
}

static std::string Build(const std::vector<std::string>& keys, uint64_t bits_per_key, bool crate) {
  Filter filter{keys.size() * bits_per_key, static_cast<uint64_t>(std::ceil(0.693 * bits_per_key)), {}};
  if (filter.num_hashes < 1) filter.num_hashes = 1;
  if (crate && filter.num_bits > 0) {
    uint64_t power = 1;
    while (power < filter.num_bits) power *= 2;
    filter.num_bits = power;
  }
  if (!crate && filter.num_hashes > 30) filter.num_hashes = 30;
  std::string bits(Bytes(filter.num_bits), '\0');
  for (const std::string& key : keys) filter.Add(key, &bits);

  std::string encoded;
  if (crate) {
    Put(filter.num_hashes, 4, &encoded);
    Put(filter.num_bits, 8, &encoded);
  } else {
    Put(filter.num_bits, 8, &encoded);
    Put(filter.num_hashes, 4, &encoded);
    Put(bits_per_key, 4, &encoded);
  }
  return encoded + bits;
}

static std::optional<Filter> Decode(std::string_view encoded, bool crate) {
  const uint64_t size = encoded.size();
  if (!crate && size >= 16 && size - 16 == Bytes(Get(encoded, 0, 8))) {
    const uint64_t num_hashes = Get(encoded, 8, 4);
    if (num_hashes < 1 || num_hashes > 30) return {};
    return Filter{Get(encoded, 0, 8), num_hashes, encoded.substr(16)};
  }
  if (size >= 12 && size - 12 == Bytes(Get(encoded, 4, 8))) {
    const uint64_t num_hashes = Get(encoded, 0, 4), num_bits = Get(encoded, 4, 8);
    if (num_hashes < 1 && num_bits > 0) return {};  // 12 zero bytes are a filter of no keys
    return Filter{num_bits, num_hashes, encoded.substr(12)};
  }
  return {};
}

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const std::string layout = argc >= 4 ? argv[1] : "", command = argc >= 4 ? argv[2] : "";
  const bool crate = layout == "nori-crate";
  if ((layout != "nori" && !crate) || (command != "query" && (command != "build" || argc != 4))) {
    std::cerr << "usage: oracle nori|nori-crate build BITS_PER_KEY | oracle nori|nori-crate query FILTER_FILE...\n";
    return 2;
  }
  const std::vector<std::string> keys = ReadKeys(std::cin);
  if (command == "build") {
    std::cout << Build(keys, std::strtoull(argv[3], nullptr, 10), crate);
  } else {
    for (int i = 3; i < argc; i++) {
      const std::optional<Filter> filter = Decode(MapFile(argv[i]), crate);
      if (filter) for (const std::string& key : keys) std::cout.put(filter->MayContain(key) ? '1' : '0');
      std::cout << (filter ? "\n" : "none\n");
    }
  }
  return std::cout.flush() ? 0 : 2;
}
