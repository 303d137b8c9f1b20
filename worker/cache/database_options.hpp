#pragma once

#include <rocksdb/options.h>

/// How sluice has RocksDB keep a cache: what is tuned, and why.
namespace sluice {

/// Of the database as a whole. It is made where it is not there; a start writes no table.
rocksdb::DBOptions database_options();
/// Of each column family. All share one cache of blocks in the process.
rocksdb::ColumnFamilyOptions family_options();

}  // namespace sluice
