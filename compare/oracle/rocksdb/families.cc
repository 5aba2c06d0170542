// A RocksDB database of several families, which writes, flushes and compacts at once, and lists its tables.
//
//   families write FOLDER STEP SEED    reads keys, and puts key number i into family i mod 10. After each STEP keys, it flushes
//                                 them and prints "flushed" and how many keys are in tables. Before the last time, it deletes a range of
//                                 keys in family 6. A SEED other than 0 chooses
//                                 versions, checksums, compressions and sizes of blocks.
//   families list FOLDER          prints the tables of the database
//   families keys FOLDER          prints the keys of each table: its name and a key in hexadecimal digits
//
// A line of a table has its name, its family, its level, its size, and its first and its last key in hexadecimal digits, with
// tabs between.

#include <algorithm>
#include <cstring>
#include <iostream>
#include <memory>
#include <random>
#include <string>

#include <rocksdb/comparator.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/metadata.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table.h>

#include "input.h"

namespace rocksdb {
const Comparator* BytewiseComparatorWithU64Ts();  // which the headers of some versions do not declare
}

static void Check(const rocksdb::Status& status) {
  if (status.ok()) return;
  std::cerr << "families: " << status.ToString() << "\n";
  std::exit(1);
}

static const char* const kFamilies[] = {"default", "small", "wide",    "partitions", "prefix",
                                        "ribbon",  "none",  "reverse", "times",      "hits"};
constexpr size_t kCount = sizeof kFamilies / sizeof *kFamilies;

static bool HasTimes(const std::string& family) { return family == "times"; }

// FamilyOptions returns the options of a family, whose tables are small.
static rocksdb::ColumnFamilyOptions FamilyOptions(const std::string& family, unsigned seed) {
  std::mt19937 random(seed + static_cast<unsigned>(std::hash<std::string>()(family)));
  rocksdb::BlockBasedTableOptions table;
  rocksdb::ColumnFamilyOptions options;
  table.format_version = 5;
  table.block_size = 1024;
  options.compression = rocksdb::kNoCompression;
  if (seed) {
    const rocksdb::CompressionType compressions[] = {rocksdb::kNoCompression, rocksdb::kSnappyCompression, rocksdb::kLZ4Compression,
                                                     rocksdb::kZSTD, rocksdb::kZlibCompression};
    table.format_version = 2 + random() % 4;
    table.checksum = static_cast<rocksdb::ChecksumType>(1 + random() % 4);
    table.block_size = 256 << random() % 5;
    table.index_block_restart_interval = 1 + random() % 20;
    table.data_block_index_type = static_cast<rocksdb::BlockBasedTableOptions::DataBlockIndexType>(random() % 2);
    if (random() % 4 == 0) table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    options.compression = compressions[random() % 5];
    if (options.compression == rocksdb::kZSTD && random() % 2) options.compression_opts.max_dict_bytes = 4096;
  }
  const double bits = family == "small" ? 2 : family == "wide" ? 20 : 10;
  if (family != "none") table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(bits));
  if (family == "ribbon") table.filter_policy.reset(rocksdb::NewRibbonFilterPolicy(10));
  if (family == "partitions") {
    table.partition_filters = true;
    table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    table.metadata_block_size = 256;
  }
  if (family == "prefix") {
    options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(4));
    table.whole_key_filtering = false;
  }
  if (family == "reverse") options.comparator = rocksdb::ReverseBytewiseComparator();
  if (HasTimes(family)) options.comparator = rocksdb::BytewiseComparatorWithU64Ts();
  options.optimize_filters_for_hits = family == "hits";
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.write_buffer_size = 64 << 10;
  options.target_file_size_base = 16 << 10;
  options.max_bytes_for_level_base = 64 << 10;
  options.max_bytes_for_level_multiplier = 4;
  options.num_levels = 5;
  options.level0_file_num_compaction_trigger = 3;
  return options;
}

static std::string Hex(const rocksdb::Slice& key) { return key.ToString(true); }

// Database opens all families.
struct Database {
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;

  Database(const std::string& folder, bool write, unsigned seed) {
    rocksdb::DBOptions options;
    options.create_if_missing = options.create_missing_column_families = write;
    options.info_log_level = rocksdb::FATAL_LEVEL;
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (const char* family : kFamilies) families.emplace_back(family, FamilyOptions(family, seed));
    Check(write ? rocksdb::DB::Open(options, folder, families, &handles, &db)
                : rocksdb::DB::OpenForReadOnly(options, folder, families, &handles, &db));
  }

  ~Database() {
    for (auto* handle : handles) delete handle;
    delete db;
  }

  void Put(size_t i, const std::string& key, const std::string& value) {
    auto* handle = handles[i % kCount];
    rocksdb::WriteOptions write;
    if (HasTimes(handle->GetName())) {
      Check(db->Put(write, handle, key, rocksdb::Slice("\x01\0\0\0\0\0\0\0", 8), value));
    } else {
      Check(db->Put(write, handle, key, value));
    }
  }

  void Flush() { Check(db->Flush(rocksdb::FlushOptions(), handles)); }

  std::vector<rocksdb::LiveFileMetaData> Tables() const {
    std::vector<rocksdb::LiveFileMetaData> tables;
    db->GetLiveFilesMetaData(&tables);
    return tables;
  }

  void List() const {
    for (const auto& table : Tables()) {
      std::cout << table.name.substr(1) << '\t' << table.column_family_name << '\t' << table.level << '\t' << table.size << '\t'
                << Hex(table.smallestkey) << '\t' << Hex(table.largestkey) << '\n';
    }
  }
};

// PrintKeys prints the keys of a table.
static void PrintKeys(const rocksdb::LiveFileMetaData& table) {
  rocksdb::Options options(rocksdb::DBOptions(), FamilyOptions(table.column_family_name, 0));
  rocksdb::SstFileReader reader(options);
  Check(reader.Open(table.db_path + table.name));
  rocksdb::ReadOptions read;
  const rocksdb::Slice newest("\xff\xff\xff\xff\xff\xff\xff\xff", 8);
  if (HasTimes(table.column_family_name)) read.timestamp = &newest;
  std::unique_ptr<rocksdb::Iterator> i(reader.NewIterator(read));
  for (i->SeekToFirst(); i->Valid(); i->Next()) std::cout << table.name.substr(1) << '\t' << Hex(i->key()) << '\n';
  Check(i->status());
}

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  if (argc < 3) {
    std::cerr << "usage: families write|list|keys FOLDER [STEP SEED]\n";
    return 2;
  }
  const std::string command = argv[1];
  const unsigned seed = argc > 4 ? static_cast<unsigned>(std::atoi(argv[4])) : 0;
  Database database(argv[2], command == "write", seed);
  if (command == "keys") {
    for (const auto& table : database.Tables()) PrintKeys(table);
    return 0;
  }
  if (command == "write") {
    std::mt19937 random(seed + 1);
    const std::vector<std::string> keys = ReadKeys(std::cin);
    const size_t step = std::strtoul(argv[3], nullptr, 10);
    for (size_t i = 0; i < keys.size(); i++) {
      database.Put(i, keys[i], std::string(10 + random() % 90, static_cast<char>('a' + i % 26)));
      if (i + 1 == keys.size()) {  // of keys that no family has
        Check(database.db->DeleteRange({}, database.handles[6], "user00005000x", "user00005000y"));
      }
      if ((i + 1) % step == 0 || i + 1 == keys.size()) {
        database.Flush();
        std::cout << "flushed " << i + 1 << std::endl;
      }
    }
    return 0;
  }
  database.List();
  return 0;
}
