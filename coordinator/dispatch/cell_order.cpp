#include "coordinator/dispatch/cell_order.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::size_t children = 4;  ///< Half a cache line.

std::size_t parent_of(std::size_t place) {
  return (place - 1) / children;
}

}  // namespace

void CellOrder::put(std::size_t place, const Entry& entry) {
  entries_[place] = entry;
  (*places_)[entry.cell] = static_cast<std::uint32_t>(place);
}

void CellOrder::rise(std::size_t place, const Entry& entry) {
  for (; place > 0 && entry.first < entries_[parent_of(place)].first; place = parent_of(place))
    put(place, entries_[parent_of(place)]);
  put(place, entry);
}

void CellOrder::sink(std::size_t place, const Entry& entry) {
  for (;;) {
    const std::size_t begin = place * children + 1;
    if (begin >= entries_.size()) break;
    const auto from = entries_.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto to = from + static_cast<std::ptrdiff_t>(std::min(children, entries_.size() - begin));
    const auto least = std::ranges::min_element(from, to, {}, &Entry::first);
    if (entry.first <= least->first) break;
    put(place, *least);
    place = static_cast<std::size_t>(least - entries_.begin());
  }
  put(place, entry);
}

void CellOrder::settle(std::size_t place, const Entry& entry) {
  const bool rises = place > 0 && entry.first < entries_[parent_of(place)].first;
  rises ? rise(place, entry) : sink(place, entry);
}

void CellOrder::add(CellId cell, UnitId first) {
  entries_.emplace_back();
  rise(entries_.size() - 1, {first, cell});
}

void CellOrder::erase(CellId cell) {
  const std::size_t place = (*places_)[cell];
  const Entry last = entries_.back();
  entries_.pop_back();
  if (place < entries_.size()) settle(place, last);
}

void CellOrder::set_first(CellId cell, UnitId first) {
  settle((*places_)[cell], {first, cell});
}

}  // namespace sluice
