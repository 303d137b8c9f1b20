#pragma once

#include "common/model/trial.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

/// A set of units whose keys hash alike (WorkQueue).
using CellId = std::uint32_t;

/// Cells by the first unit of each: a heap, since that of one cell changes with each unit that is taken. No
/// more than logarithmic in the number of cells. Pure; not thread-safe.
class CellOrder {
 public:
  /// By cell, where it stands in its order: shared by orders of which no two have a cell in common.
  using Places = std::vector<std::uint32_t>;

  /// The places outlive the order, and have room for each cell.
  explicit CellOrder(Places& places) : places_(&places) {}

  bool empty() const { return entries_.empty(); }
  /// The cell with the least first unit. REQUIRES: there is one.
  CellId front() const { return entries_.front().cell; }
  /// One that no other stands behind in the heap: not the last, but found at once. REQUIRES: there is one.
  CellId late() const { return entries_.back().cell; }

  /// REQUIRES: it is in no order.
  void add(CellId cell, UnitId first);
  /// REQUIRES: it is in this order.
  void erase(CellId cell);
  /// REQUIRES: it is in this order.
  void set_first(CellId cell, UnitId first);

 private:
  struct Entry {
    UnitId first = 0;
    CellId cell = 0;
  };

  void put(std::size_t place, const Entry& entry);
  void rise(std::size_t place, const Entry& entry);
  void sink(std::size_t place, const Entry& entry);
  void settle(std::size_t place, const Entry& entry);

  Places* places_;
  std::vector<Entry> entries_;  ///< None is less than its parent, of four children.
};

}  // namespace sluice
