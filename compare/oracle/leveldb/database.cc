// A LevelDB database that counts the calls of its filters.
//
//   database write FOLDER COMPARATOR POLICY NAME    reads keys, writes them to tables
//   database get FOLDER COMPARATOR POLICY NAME      reads keys, prints three counts:
//       keys found, calls of a filter, and answers yes
//   database answers FOLDER COMPARATOR POLICY NAME  reads keys, prints for each '+' if it is found,
//       '0' if a filter denies it, '-' if no filter is asked, and '1' else
//   database levels FOLDER COMPARATOR POLICY NAME   reads keys, writes them to many small tables, and prints LevelDB's list
//       of the tables of each level
//
// COMPARATOR is "bytewise"; "ignore-tag", which ignores a key's bytes from the first
// '#' on; "reverse"; or "shortlex", in which shorter keys come first. Tables store the
// filters of POLICY under NAME. POLICY is "bloom", LevelDB's own with 10 bits per key;
// "identity", the same for keys without their tags; "poison", the same with all bits
// clear, so that it says no to every key; "signed", as LevelDB's was until 2014, whose
// hash takes the last bytes of a key as signed; or "prime", which is built otherwise, as
// in a fork of LevelDB: two hashes, and the bits that a prime number reaches.

#include <algorithm>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <leveldb/comparator.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>

#include "input.h"

using leveldb::Slice;

static Slice Identity(const Slice& key) {
  const void* tag = key.empty() ? nullptr : std::memchr(key.data(), '#', key.size());
  return tag ? Slice(key.data(), static_cast<const char*>(tag) - key.data()) : key;
}

class IgnoreTag : public leveldb::Comparator {
 public:
  const char* Name() const override { return "lanebloom.IgnoreTag"; }
  int Compare(const Slice& a, const Slice& b) const override { return Identity(a).compare(Identity(b)); }
  // These would have to shorten identities, not whole keys.
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

class Reverse : public leveldb::Comparator {
 public:
  const char* Name() const override { return "lanebloom.Reverse"; }
  int Compare(const Slice& a, const Slice& b) const override { return b.compare(a); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

class Shortlex : public leveldb::Comparator {
 public:
  const char* Name() const override { return "lanebloom.Shortlex"; }
  int Compare(const Slice& a, const Slice& b) const override {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

// Positions are the bits of a key in the filters "signed" and "prime".
class Positions {
 public:
  Positions(bool is_signed, const Slice& key, uint32_t bits) : bits_(is_signed ? bits : Prime(bits)) {
    if (is_signed) {
      hash_ = Signed(key);
      step_ = hash_ >> 17 | hash_ << 15;
    } else {
      hash_ = Simple(key, 1);
      step_ = Simple(key, 77);
    }
  }
  uint32_t operator[](uint32_t probe) const { return (hash_ + probe * step_) % bits_; }

 private:
  static uint32_t Simple(const Slice& key, uint32_t hash) {
    for (size_t i = 0; i < key.size(); i++) hash = (hash ^ static_cast<unsigned char>(key[i])) * 16777619u;
    return hash ^ hash >> 15;
  }
  static uint32_t Prime(uint32_t most) {
    for (;; most--) {
      uint32_t divisor = 2;
      while (divisor * divisor <= most && most % divisor) divisor++;
      if (divisor * divisor > most) return most;
    }
  }
  static uint32_t Signed(const Slice& key) {
    const uint32_t m = 0xc6a4a793;
    uint32_t hash = 0xbc9f1d34 ^ static_cast<uint32_t>(key.size()) * m;
    size_t i = 0;
    for (; i + 4 <= key.size(); i += 4) {
      uint32_t word;
      std::memcpy(&word, key.data() + i, 4);
      hash = (hash + word) * m;
      hash ^= hash >> 16;
    }
    if (i == key.size()) return hash;
    for (size_t j = i; j < key.size(); j++) {
      hash += static_cast<uint32_t>(static_cast<int32_t>(static_cast<signed char>(key[j]))) << 8 * (j - i);
    }
    hash *= m;
    return hash ^ hash >> 24;
  }

  const uint32_t bits_;
  uint32_t hash_, step_;
};

// Other makes and reads the filters "signed" and "prime".
class Other : public leveldb::FilterPolicy {
 public:
  explicit Other(bool is_signed) : signed_(is_signed) {}
  const char* Name() const override { return "other"; }
  void CreateFilter(const Slice* keys, int n, std::string* dst) const override {
    const uint32_t bytes = (std::max(n * 10, 64) + 7) / 8, probes = 6;
    const size_t at = dst->size();
    dst->resize(at + bytes);
    dst->push_back(static_cast<char>(probes));
    for (int i = 0; i < n; i++) {
      const Positions positions(signed_, keys[i], bytes * 8);
      for (uint32_t j = 0; j < probes; j++) (*dst)[at + positions[j] / 8] |= 1 << positions[j] % 8;
    }
  }
  bool KeyMayMatch(const Slice& key, const Slice& filter) const override {
    const size_t bytes = filter.size() - 1;
    const Positions positions(signed_, key, static_cast<uint32_t>(bytes * 8));
    for (int j = 0; j < filter[bytes]; j++) {
      if (!(filter[positions[j] / 8] >> positions[j] % 8 & 1)) return false;
    }
    return true;
  }

 private:
  const bool signed_;
};

static const leveldb::FilterPolicy* NewPolicy(const std::string& kind) {
  if (kind == "signed" || kind == "prime") return new Other(kind == "signed");
  return leveldb::NewBloomFilterPolicy(10);
}

class CountingPolicy : public leveldb::FilterPolicy {
 public:
  CountingPolicy(std::string kind, std::string name)
      : bloom_(NewPolicy(kind)), identity_(kind == "identity"), poison_(kind == "poison"), name_(std::move(name)) {}

  const char* Name() const override { return name_.c_str(); }

  void CreateFilter(const Slice* keys, int n, std::string* dst) const override {
    std::vector<Slice> slices(keys, keys + n);
    if (identity_) std::transform(keys, keys + n, slices.begin(), Identity);
    const size_t before = dst->size();
    bloom_->CreateFilter(slices.data(), n, dst);
    if (poison_) std::fill(dst->begin() + before, dst->end() - 1, '\0');
  }

  bool KeyMayMatch(const Slice& key, const Slice& filter) const override {
    ++calls;
    const bool match = bloom_->KeyMayMatch(identity_ ? Identity(key) : key, filter);
    yes += match;
    return match;
  }

  mutable uint64_t calls = 0, yes = 0;

 private:
  const std::unique_ptr<const leveldb::FilterPolicy> bloom_;
  const bool identity_, poison_;
  const std::string name_;
};

static void Check(const leveldb::Status& status) {
  if (status.ok()) return;
  std::cerr << "database: " << status.ToString() << "\n";
  std::exit(1);
}

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  if (argc != 6) {
    std::cerr << "usage: database write|get|answers|levels FOLDER COMPARATOR POLICY NAME\n";
    return 2;
  }
  const bool levels = !std::strcmp(argv[1], "levels");
  const bool write = levels || !std::strcmp(argv[1], "write");
  const IgnoreTag ignore_tag;
  const Reverse reverse;
  const Shortlex shortlex;
  const CountingPolicy policy(argv[4], argv[5]);
  leveldb::Options options;
  options.create_if_missing = write;
  options.filter_policy = &policy;
  options.max_file_size = levels ? 1 << 20 : 1 << 30;  // else one table
  options.write_buffer_size = levels ? 64 << 10 : 1 << 28;
  if (levels) options.compression = leveldb::kNoCompression;
  if (!std::strcmp(argv[3], "ignore-tag")) options.comparator = &ignore_tag;
  if (!std::strcmp(argv[3], "reverse")) options.comparator = &reverse;
  if (!std::strcmp(argv[3], "shortlex")) options.comparator = &shortlex;
  leveldb::DB* opened = nullptr;
  Check(leveldb::DB::Open(options, argv[2], &opened));
  const std::unique_ptr<leveldb::DB> db(opened);

  const std::vector<std::string> keys = ReadKeys(std::cin);
  if (write) {
    for (const std::string& key : keys) Check(db->Put({}, key, levels ? std::string(100, 'v') : "value"));
    if (!levels) {
      db->CompactRange(nullptr, nullptr);  // a Get must find them in tables
      return 0;
    }
    const Slice first(keys.front());
    db->CompactRange(&first, &first);  // what is in memory becomes a table
    std::string tables;
    if (!db->GetProperty("leveldb.sstables", &tables)) return 1;
    std::cout << tables;
    return 0;
  }
  const bool answers = !std::strcmp(argv[1], "answers");
  uint64_t found = 0;
  for (const std::string& key : keys) {
    std::string value;
    const uint64_t calls = policy.calls, yes = policy.yes;
    const leveldb::Status status = db->Get({}, key, &value);
    if (!status.IsNotFound()) Check(status);
    found += status.ok() && value == "value";
    if (answers) std::cout.put(status.ok() ? '+' : policy.calls == calls ? '-' : policy.yes == yes ? '0' : '1');
  }
  if (answers) return std::cout.flush() ? 0 : 2;
  std::cout << found << ' ' << policy.calls << ' ' << policy.yes << '\n';
  return std::cout.flush() ? 0 : 2;
}
