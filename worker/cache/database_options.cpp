#include "worker/cache/database_options.hpp"

#include "worker/defaults.hpp"

#include <algorithm>
#include <cstdarg>
#include <memory>

#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

namespace sluice {

namespace {

/// RocksDB's own log would cost three changes of the directory at each start; its errors come back as
/// statuses.
class NoLog : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

rocksdb::CompressionType best_compression() {
  // LZ4 first: answers are small and read often; ZSTD saves little more on a few kilobytes.
  const auto supported = rocksdb::GetSupportedCompressions();
  for (const auto wanted : {rocksdb::kLZ4Compression, rocksdb::kZSTD, rocksdb::kSnappyCompression}) {
    if (std::ranges::find(supported, wanted) != supported.end()) return wanted;
  }
  return rocksdb::kNoCompression;
}

}  // namespace

rocksdb::DBOptions database_options() {
  rocksdb::DBOptions options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.max_open_files = defaults::open_files;
  options.max_file_opening_threads = 1;
  options.skip_stats_update_on_db_open = true;
  options.skip_checking_sst_file_sizes_on_db_open = true;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.info_log = std::make_shared<NoLog>();
  options.max_total_wal_size = defaults::write_buffer_bytes;
  // A start writes no table of a few answers: the cache decides at its end when one is worth it.
  options.avoid_flush_during_recovery = true;
  return options;
}

rocksdb::ColumnFamilyOptions family_options() {
  static const auto block_cache = rocksdb::NewLRUCache(defaults::block_cache_bytes);
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = block_cache;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(defaults::bloom_bits));
  table.cache_index_and_filter_blocks = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.format_version = 5;
  rocksdb::ColumnFamilyOptions options;
  options.write_buffer_size = defaults::write_buffer_bytes;
  options.memtable_prefix_bloom_size_ratio = defaults::memtable_bloom_ratio;
  options.memtable_whole_key_filtering = true;
  options.compression = best_compression();
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

}  // namespace sluice
