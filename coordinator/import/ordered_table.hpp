#pragma once

#include "common/documents/document.hpp"

#include <string>
#include <utility>

namespace sluice {

/// A mapping with keys in the order in which they are added.
class OrderedTable {
 public:
  OrderedTable& add(std::string key, DocumentNode value) {
    table_.push_back({std::move(key), 1, std::move(value)});
    return *this;
  }
  DocumentNode take() { return {std::move(table_), 1, {}}; }

 private:
  DocumentNode::Table table_;
};

}  // namespace sluice
