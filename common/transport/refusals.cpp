#include "common/transport/refusals.hpp"

#include "common/transport/defaults.hpp"

#include <utility>

namespace sluice {

Refusals::News Refusals::on_refusal(const Refusal& refusal) {
  const bool is_exact = refusal.cause != Refusal::Cause::hang_up;
  hang_ups_ = is_exact ? 0 : hang_ups_ + 1;
  const bool is_certain = is_exact || hang_ups_ >= defaults::hang_ups_in_a_row;
  if (!is_certain && is_exact_) return {};
  News news;
  news.is_another = refusal.why != why_;
  why_ = refusal.why;
  is_exact_ = is_exact;
  if (!is_certain) return news;
  const bool is_unlisted = refusal.cause == Refusal::Cause::not_listed;
  news.is_to_log = !std::exchange(is_unlisted ? is_unlisted_logged_ : is_disagreement_logged_, true);
  return news;
}

}  // namespace sluice
