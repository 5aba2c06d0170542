// A RocksDB database with one table, which tells what its filter answers.
//
//   database write FOLDER [NAME=VALUE]...    reads keys, writes them to a table; prints nothing
//   database get FOLDER [NAME=VALUE]...      reads keys, prints '0' for each that the table's filter denies,
//                                            '+' for each that is found, '1' for each other that the filter was
//                                            asked for, and '-' for the rest
//
// The names are format_version, checksum (RocksDB's number), compression (a name without k), bits (per key), ribbon (1: a
// Ribbon filter), before (the level below which there are Bloom filters all the same), memory (1: filters have sizes
// that the allocator has), partitions (bytes of each), prefix (bytes of each key's prefix), capped (the same, and shorter keys
// are their own prefixes), whole (0: no whole keys in the filter), index (RocksDB's number of a type), restarts (the
// interval in index blocks), block (bytes of a data block), hash (1: data blocks have a hash index), dictionary (bytes
// of a compression's dictionary), reverse (1: the reverse order), shortlex (1: shorter keys come first), times (each
// key has so many versions with timestamps), name (of the comparator for these and for shortlex), versions (each tenth
// key has so many) and ingest (1: the table is written outside of the database, which then takes it and writes a
// sequence number into it).
//
// RocksDB asks the filter only for keys between the first and the last of a table.

#include <algorithm>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include <rocksdb/comparator.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>

#include "input.h"

static void Check(const rocksdb::Status& status) {
  if (status.ok()) return;
  std::cerr << "database: " << status.ToString() << "\n";
  std::exit(1);
}

static rocksdb::CompressionType Compression(const std::string& name) {
  if (name == "snappy") return rocksdb::kSnappyCompression;
  if (name == "zlib") return rocksdb::kZlibCompression;
  if (name == "bzip2") return rocksdb::kBZip2Compression;
  if (name == "lz4") return rocksdb::kLZ4Compression;
  if (name == "lz4hc") return rocksdb::kLZ4HCCompression;
  if (name == "zstd") return rocksdb::kZSTD;
  if (name == "oldzstd") return rocksdb::kZSTDNotFinalCompression;
  return rocksdb::kNoCompression;
}

// Shortlex is an order of its own.
class Shortlex : public rocksdb::Comparator {
 public:
  explicit Shortlex(std::string name) : name_(name.empty() ? "lanebloom.Shortlex" : std::move(name)) {}
  const char* Name() const override { return name_.c_str(); }
  int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const rocksdb::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

 private:
  const std::string name_;
};

// WithTimes is RocksDB's order of keys that end in a timestamp, the newest first.
class WithTimes : public rocksdb::Comparator {
 public:
  explicit WithTimes(std::string name)
      : Comparator(8), name_(name.empty() ? "leveldb.BytewiseComparator.u64ts" : std::move(name)) {}
  const char* Name() const override { return name_.c_str(); }
  int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override {
    const int keys = CompareWithoutTimestamp(a, true, b, true);
    return keys ? keys : -CompareTimestamp(End(a), End(b));
  }
  int CompareWithoutTimestamp(const rocksdb::Slice& a, bool a_has, const rocksdb::Slice& b, bool b_has) const override {
    return rocksdb::Slice(a.data(), a.size() - 8 * a_has).compare(rocksdb::Slice(b.data(), b.size() - 8 * b_has));
  }
  int CompareTimestamp(const rocksdb::Slice& a, const rocksdb::Slice& b) const override {
    const uint64_t x = Number(a), y = Number(b);
    return x < y ? -1 : x > y;
  }
  void FindShortestSeparator(std::string*, const rocksdb::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

 private:
  static rocksdb::Slice End(const rocksdb::Slice& key) { return rocksdb::Slice(key.data() + key.size() - 8, 8); }
  static uint64_t Number(const rocksdb::Slice& time) {
    uint64_t number = 0;
    for (int i = 0; i < 8; i++) number |= static_cast<uint64_t>(static_cast<unsigned char>(time[i])) << 8 * i;
    return number;
  }
  const std::string name_;
};

// Time is a timestamp.
static std::string Time(uint64_t t) {
  std::string bytes;
  for (int i = 0; i < 8; i++) bytes.push_back(static_cast<char>(t >> 8 * i));
  return bytes;
}

// Ingest writes a table beside the database and hands it over. A snapshot, which may not see its keys, makes RocksDB
// give it a sequence number.
static void Ingest(rocksdb::DB* db, const rocksdb::Options& options, std::vector<std::string> keys) {
  std::sort(keys.begin(), keys.end());
  const std::string file = db->GetName() + "/outside";
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  Check(writer.Open(file));
  for (const std::string& key : keys) Check(writer.Put(key, "value of the key " + key));
  Check(writer.Finish());
  rocksdb::IngestExternalFileOptions ingest;
  ingest.move_files = true;
  ingest.write_global_seqno = true;
  const rocksdb::Snapshot* snapshot = db->GetSnapshot();
  Check(db->IngestExternalFile({file}, ingest));
  db->ReleaseSnapshot(snapshot);
}

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  if (argc < 3) {
    std::cerr << "usage: database write|get FOLDER [NAME=VALUE]...\n";
    return 2;
  }
  std::map<std::string, std::string> given = {
      {"format_version", "5"}, {"checksum", "1"}, {"bits", "10"}, {"block", "4096"}, {"restarts", "1"}, {"before", "-1"}};
  for (int i = 3; i < argc; i++) {
    const std::string option = argv[i];
    const size_t equals = option.find('=');
    given[option.substr(0, equals)] = option.substr(equals + 1);
  }
  const auto number = [&](const char* name) { return std::atof(given[name].c_str()); };

  rocksdb::BlockBasedTableOptions table;
  table.format_version = static_cast<uint32_t>(number("format_version"));
  table.checksum = static_cast<rocksdb::ChecksumType>(number("checksum"));
  table.block_size = static_cast<size_t>(number("block"));
  table.index_type = static_cast<rocksdb::BlockBasedTableOptions::IndexType>(number("index"));
  table.index_block_restart_interval = static_cast<int>(number("restarts"));
  table.whole_key_filtering = given["whole"] != "0";
  if (number("bits") > 0) {
    table.filter_policy.reset(number("ribbon") ? rocksdb::NewRibbonFilterPolicy(number("bits"), static_cast<int>(number("before")))
                                               : rocksdb::NewBloomFilterPolicy(number("bits")));
  }
  table.optimize_filters_for_memory = number("memory") != 0;
  if (number("partitions")) {
    table.partition_filters = true;
    table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    table.metadata_block_size = static_cast<uint64_t>(number("partitions"));
  }
  if (number("hash")) {
    table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
  }
  const Shortlex shortlex(given["name"]);
  const WithTimes with_times(given["name"]);
  rocksdb::Options options;
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  options.write_buffer_size = 1 << 30;
  options.info_log_level = rocksdb::FATAL_LEVEL;
  options.compression = Compression(given["compression"]);
  options.statistics = rocksdb::CreateDBStatistics();
  if (number("prefix")) options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(static_cast<size_t>(number("prefix"))));
  if (number("capped")) options.prefix_extractor.reset(rocksdb::NewCappedPrefixTransform(static_cast<size_t>(number("capped"))));
  if (number("dictionary")) {
    options.compression_opts.max_dict_bytes = static_cast<uint32_t>(number("dictionary"));
    options.compression_opts.zstd_max_train_bytes = 100 * options.compression_opts.max_dict_bytes;
  }
  if (number("shortlex")) options.comparator = &shortlex;
  if (number("times")) options.comparator = &with_times;
  if (number("reverse")) options.comparator = rocksdb::ReverseBytewiseComparator();
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));

  rocksdb::DB* opened = nullptr;
  Check(rocksdb::DB::Open(options, argv[2], &opened));
  const std::unique_ptr<rocksdb::DB> db(opened);
  const std::vector<std::string> keys = ReadKeys(std::cin);
  if (!std::strcmp(argv[1], "write")) {
    if (number("ingest")) {
      Ingest(db.get(), options, keys);
      return 0;
    }
    rocksdb::WriteOptions write;
    write.disableWAL = true;
    std::string value = "value of the key ";
    const int times = static_cast<int>(number("times"));
    for (int time = 1; time <= times; time++) {
      for (const std::string& key : keys) Check(db->Put(write, key, Time(time), value + key));
    }
    if (!times) {
      for (const std::string& key : keys) Check(db->Put(write, key, value + key));
    }
    std::vector<const rocksdb::Snapshot*> snapshots;  // keep the versions
    for (int version = 1; version < number("versions"); version++) {
      snapshots.push_back(db->GetSnapshot());
      for (size_t i = 0; i < keys.size(); i += 10) Check(db->Put(write, keys[i], value + keys[i]));
    }
    Check(db->Flush(rocksdb::FlushOptions()));
    for (const rocksdb::Snapshot* snapshot : snapshots) db->ReleaseSnapshot(snapshot);
    return 0;
  }
  const auto denied = [&] {
    return options.statistics->getTickerCount(rocksdb::BLOOM_FILTER_USEFUL) +
           options.statistics->getTickerCount(rocksdb::BLOOM_FILTER_PREFIX_USEFUL);
  };
  const auto passed = [&] {
    return options.statistics->getTickerCount(rocksdb::BLOOM_FILTER_FULL_POSITIVE) +
           options.statistics->getTickerCount(rocksdb::BLOOM_FILTER_PREFIX_CHECKED);
  };
  rocksdb::ReadOptions read;
  const std::string now = Time(1000);
  const rocksdb::Slice until = now;
  if (number("times")) read.timestamp = &until;
  uint64_t before = denied();
  rocksdb::PinnableSlice value;
  for (const std::string& key : keys) {
    value.Reset();
    const uint64_t passedBefore = passed();
    const rocksdb::Status status = db->Get(read, db->DefaultColumnFamily(), key, &value);
    if (!status.IsNotFound()) Check(status);
    const uint64_t after = denied();
    std::cout.put(status.ok() ? '+' : after != before ? '0' : passed() != passedBefore ? '1' : '-');
    before = after;
  }
  return std::cout.flush() ? 0 : 2;
}
