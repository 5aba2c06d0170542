// A RocksDB database with one table, which tells what its filter answers.
//
//   database write FOLDER [NAME=VALUE]...    reads keys, writes them to a table; prints nothing
//   database get FOLDER [NAME=VALUE]...      reads keys, prints '0' for each that the table's filter denies,
//                                            '+' for each that is found, '1' for each other that the filter was
//                                            asked for, and '-' for the rest
//
// The names are format_version, checksum (RocksDB's number), compression (a name without k), bits (per key), ribbon (1: a
// Ribbon filter), partitions (bytes of each), prefix (bytes of each key's prefix), whole (0: no whole keys in the
// filter), index (RocksDB's number of a type), restarts (the interval in index blocks), block (bytes of a data
// block), reverse (1: the reverse order) and ingest (1: the table is written outside of the database, which then
// takes it and writes a sequence number into it).
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
  return rocksdb::kNoCompression;
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
      {"format_version", "5"}, {"checksum", "1"}, {"bits", "10"}, {"block", "4096"}, {"restarts", "1"}};
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
    table.filter_policy.reset(number("ribbon") ? rocksdb::NewRibbonFilterPolicy(number("bits"), -1)
                                               : rocksdb::NewBloomFilterPolicy(number("bits")));
  }
  if (number("partitions")) {
    table.partition_filters = true;
    table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    table.metadata_block_size = static_cast<uint64_t>(number("partitions"));
  }
  rocksdb::Options options;
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  options.write_buffer_size = 1 << 30;
  options.info_log_level = rocksdb::FATAL_LEVEL;
  options.compression = Compression(given["compression"]);
  options.statistics = rocksdb::CreateDBStatistics();
  if (number("prefix")) options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(static_cast<size_t>(number("prefix"))));
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
    for (const std::string& key : keys) Check(db->Put(write, key, value + key));
    Check(db->Flush(rocksdb::FlushOptions()));
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
  uint64_t before = denied();
  rocksdb::PinnableSlice value;
  for (const std::string& key : keys) {
    value.Reset();
    const uint64_t passedBefore = passed();
    const rocksdb::Status status = db->Get(rocksdb::ReadOptions(), db->DefaultColumnFamily(), key, &value);
    if (!status.IsNotFound()) Check(status);
    const uint64_t after = denied();
    std::cout.put(status.ok() ? '+' : after != before ? '0' : passed() != passedBefore ? '1' : '-');
    before = after;
  }
  return std::cout.flush() ? 0 : 2;
}
