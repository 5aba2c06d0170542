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
// COMPARATOR is "bytewise", or "ignore-tag", which ignores a key's bytes from the first
// '#' on. Tables store the filters of POLICY under NAME. POLICY is "bloom", LevelDB's
// own with 10 bits per key; "identity", the same for keys without their tags; or
// "poison", the same with all bits clear, so that it says no to every key.

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

class CountingPolicy : public leveldb::FilterPolicy {
 public:
  CountingPolicy(std::string kind, std::string name)
      : identity_(kind == "identity"), poison_(kind == "poison"), name_(std::move(name)) {}

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
  const std::unique_ptr<const leveldb::FilterPolicy> bloom_{leveldb::NewBloomFilterPolicy(10)};
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
  const CountingPolicy policy(argv[4], argv[5]);
  leveldb::Options options;
  options.create_if_missing = write;
  options.filter_policy = &policy;
  options.max_file_size = levels ? 1 << 20 : 1 << 30;  // else one table
  options.write_buffer_size = levels ? 64 << 10 : 1 << 28;
  if (levels) options.compression = leveldb::kNoCompression;
  if (!std::strcmp(argv[3], "ignore-tag")) options.comparator = &ignore_tag;
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
