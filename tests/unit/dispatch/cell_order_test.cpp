// Whatever is put in, taken out and moved: the front is the cell with the least first unit, and each cell is
// there once.
#include "coordinator/dispatch/cell_order.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice::cell_order_test {

constexpr CellId cell_count = 40;

/// Two orders that share their places, and what they are to hold.
class Orders {
 public:
  void act() {
    const auto at = *rc::gen::inRange<std::size_t>(0, orders_.size());
    const auto cell = *rc::gen::inRange<CellId>(0, cell_count);
    const auto first = *rc::gen::inRange<UnitId>(0, 1000);
    if (expected_[1 - at].contains(cell)) return;
    if (!expected_[at].contains(cell)) {
      orders_[at].add(cell, first);
      expected_[at][cell] = first;
    } else if (*rc::gen::inRange(0, 3) == 0) {
      orders_[at].erase(cell);
      expected_[at].erase(cell);
    } else {
      orders_[at].set_first(cell, first);
      expected_[at][cell] = first;
    }
    check(at);
  }

  void empty_by_the_front() {
    for (std::size_t at = 0; at < orders_.size(); ++at) {
      while (!orders_[at].empty()) {
        check(at);
        expected_[at].erase(orders_[at].front());
        orders_[at].erase(orders_[at].front());
      }
      RC_ASSERT(expected_[at].empty());
    }
  }

 private:
  void check(std::size_t at) const {
    const auto& expected = expected_[at];
    RC_ASSERT(orders_[at].empty() == expected.empty());
    if (expected.empty()) return;
    RC_ASSERT(expected.contains(orders_[at].front()));
    const auto least =
        std::ranges::min_element(expected, {}, [](const auto& entry) { return entry.second; })->second;
    RC_ASSERT(expected.at(orders_[at].front()) == least);
    RC_ASSERT(expected.contains(orders_[at].late()));
  }

  CellOrder::Places places_ = CellOrder::Places(cell_count);
  std::array<CellOrder, 2> orders_{CellOrder(places_), CellOrder(places_)};
  std::array<std::map<CellId, UnitId>, 2> expected_;
};

RC_GTEST_PROP(CellOrderTest, HasTheLeastInFront, ()) {
  Orders orders;
  const auto steps = *rc::gen::inRange(0, 200);
  for (int step = 0; step < steps; ++step) orders.act();
  orders.empty_by_the_front();
}

}  // namespace sluice::cell_order_test
