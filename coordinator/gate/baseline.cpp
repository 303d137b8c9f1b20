#include "coordinator/gate/baseline.hpp"

#include "coordinator/gate/judge_pin.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace sluice {
namespace {

std::uint32_t number_of(std::string_view text, std::vector<std::string>& texts,
                        std::unordered_map<std::string, std::uint32_t>& numbers) {
  const auto [place, is_new] =
      numbers.try_emplace(std::string(text), static_cast<std::uint32_t>(texts.size()));
  if (is_new) texts.emplace_back(text);
  return place->second;
}

}  // namespace

std::string digest_text(std::uint64_t digest) {
  std::string text(16, '0');
  for (auto digit = text.rbegin(); digest != 0; digest >>= 4) *digit++ = "0123456789abcdef"[digest & 15];
  return text;
}

std::optional<std::uint64_t> digest_from_text(std::string_view text) {
  std::uint64_t digest = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), digest, 16);
  const bool is_whole = text.size() == 16 && read.ec == std::errc() && read.ptr == text.data() + text.size();
  return is_whole && digest != 0 ? std::optional(digest) : std::nullopt;
}

bool passed_mostly(std::string_view repeats) {
  return 2 * static_cast<std::size_t>(std::ranges::count(repeats, '0')) <= repeats.size();
}

bool passed_ever(std::string_view repeats) {
  return repeats.find('1') != std::string_view::npos;
}

std::vector<double> passed_together(std::span<const CheckRepeats> checks) {
  std::vector<double> passes;
  if (!checks.empty()) passes.resize(checks.front().size(), 1.0);
  for (const CheckRepeats& repeats : checks) {
    for (std::size_t repeat = 0; repeat < passes.size(); ++repeat) {
      if (repeats[repeat] == '0') passes[repeat] = 0.0;
    }
  }
  return passes;
}

BasePasses passes_of_base(std::vector<CheckRepeats> checks, std::span<const double> of_all,
                          bool (*counts)(std::string_view repeats)) {
  BasePasses passes{{of_all.begin(), of_all.end()}};
  const bool are_known = std::ranges::all_of(
      checks, [&](const CheckRepeats& one) { return !one.empty() && one.size() == of_all.size(); });
  if (!are_known) return passes;
  const std::size_t left_out = std::erase_if(checks, [&](const CheckRepeats& one) { return !counts(one); });
  passes.leaves_out = left_out > 0;
  if (left_out > 0 && !checks.empty()) passes.of_repeats = passed_together(checks);
  return passes;
}

std::optional<std::size_t> BaselineEntry::find(CheckDigest check, std::size_t nth, bool is_only) const {
  if (checks.empty()) return is_only && scores.size() <= 1 ? std::optional<std::size_t>(0) : std::nullopt;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    if (checks[i] == check && nth-- == 0) return i;
  }
  return std::nullopt;
}

std::optional<bool> BaselineEntry::passed(std::size_t nth) const {
  if (scores.empty() && nth == 0) return score > 0.0;
  if (nth >= scores.size()) return std::nullopt;
  return scores[nth] > 0.0;
}

std::string_view BaselineEntry::repeats_of(std::size_t nth) const {
  const std::size_t length = repeats.size() / std::max<std::size_t>(scores.size(), 1);
  return repeats.substr(nth * length, length);
}

BaselineEntry Baseline::entry(std::size_t index) const {
  const Stored& stored = entries_[index];
  BaselineEntry entry{id_of(stored), metrics_[stored.metric], stored.score, metas_[stored.meta]};
  if (stored.meta < judge_samples_.size()) entry.judge_samples = judge_samples_[stored.meta];
  if (stored.scores > 0) {
    const ScoreList& list = score_lists_[stored.scores - 1];
    entry.scores = std::span(scores_).subspan(list.begin, list.count);
  }
  entry.kind = stored.pins_checks ? PinKind::checks : PinKind::score;
  if (stored.digests == 0) return entry;
  if (entry.kind == PinKind::score) {
    entry.asks = digests_[stored.digests - 1];
    return entry;
  }
  const std::size_t count = std::max<std::size_t>(entry.scores.size(), 1);
  entry.checks = std::span(digests_).subspan(stored.digests - 1, count);
  const std::uint32_t repeats =
      stored.digests <= check_repeats_.size() ? check_repeats_[stored.digests - 1] : 0;
  if (repeats > 0) entry.repeats = repeat_texts_[repeats - 1];
  return entry;
}

std::string_view Baseline::id_of(const Stored& stored) const {
  return std::string_view(texts_).substr(stored.id_begin, stored.id_length);
}

Baseline::Range Baseline::of_test(std::string_view test_id) const {
  const auto first =
      std::lower_bound(entries_.begin(), entries_.end(), test_id,
                       [this](const Stored& stored, std::string_view id) { return id_of(stored) < id; });
  const auto last =
      std::upper_bound(first, entries_.end(), test_id,
                       [this](std::string_view id, const Stored& stored) { return id < id_of(stored); });
  return {static_cast<std::size_t>(first - entries_.begin()),
          static_cast<std::size_t>(last - entries_.begin())};
}

std::optional<double> Baseline::score(std::string_view test_id, std::string_view metric) const {
  const Range range = of_test(test_id);
  for (std::size_t i = range.first; i < range.last; ++i) {
    const Stored& stored = entries_[i];
    if (!stored.pins_checks && metrics_[stored.metric] == metric) return stored.score;
  }
  return std::nullopt;
}

BasePasses Baseline::passes(Range of_test, bool (*counts)(std::string_view repeats)) const {
  std::vector<CheckRepeats> checks;
  std::optional<BaselineEntry> of_all;
  for (std::size_t i = of_test.first; i < of_test.last; ++i) {
    const BaselineEntry one = entry(i);
    if (one.kind == PinKind::score) {
      if (one.metric == passed_name) of_all = one;
      continue;
    }
    for (std::size_t n = 0; one.passed(n); ++n) checks.emplace_back(one.repeats_of(n));
  }
  if (!of_all) return {};
  if (of_all->scores.empty()) return {{of_all->score}};
  return passes_of_base(std::move(checks), of_all->scores, counts);
}

void Baseline::add(const BaselineEntry& entry) {
  Stored stored;
  stored.id_length = static_cast<std::uint32_t>(entry.test_id.size());
  // The scores of a test mostly come one after the other.
  if (!entries_.empty() && id_of(entries_.back()) == entry.test_id) {
    stored.id_begin = entries_.back().id_begin;
  } else {
    stored.id_begin = texts_.size();
    texts_.append(entry.test_id);
  }
  stored.metric = number_of(entry.metric, metrics_, metric_numbers_) & Stored::last_metric;
  stored.meta = number_of(entry.meta, metas_, meta_numbers_);
  stored.added = static_cast<std::uint32_t>(entries_.size());
  stored.score = entry.score;
  stored.pins_checks = entry.kind == PinKind::checks ? 1 : 0;
  if (!entry.scores.empty()) {
    score_lists_.push_back({scores_.size(), static_cast<std::uint32_t>(entry.scores.size())});
    stored.scores = static_cast<std::uint32_t>(score_lists_.size());
    scores_.insert(scores_.end(), entry.scores.begin(), entry.scores.end());
  }
  add_digests(entry, stored);
  entries_.push_back(stored);
}

void Baseline::add_digests(const BaselineEntry& entry, Stored& stored) {
  if (entry.kind == PinKind::score) {
    if (entry.asks != 0) stored.digests = place_of_shared(entry.asks);
  } else if (entry.checks.size() == 1 && entry.repeats.empty()) {
    stored.digests = place_of_shared(entry.checks.front());
  } else if (!entry.checks.empty()) {
    stored.digests = static_cast<std::uint32_t>(digests_.size() + 1);
    digests_.insert(digests_.end(), entry.checks.begin(), entry.checks.end());
    if (entry.repeats.empty()) return;
    check_repeats_.resize(stored.digests);
    check_repeats_.back() = 1 + number_of(entry.repeats, repeat_texts_, repeat_numbers_);
  }
}

std::uint32_t Baseline::place_of_shared(std::uint64_t digest) {
  std::uint32_t& place = shared_[digest % shared_.size()];
  if (place > 0 && digests_[place - 1] == digest) return place;
  digests_.push_back(digest);
  return place = static_cast<std::uint32_t>(digests_.size());
}

std::optional<Baseline::Duplicate> Baseline::seal() {
  metric_numbers_.clear();
  meta_numbers_.clear();
  repeat_numbers_.clear();
  judge_samples_.clear();
  for (const std::string& meta : metas_) judge_samples_.push_back(pinned_samples(meta));
  std::ranges::sort(entries_, [this](const Stored& a, const Stored& b) {
    if (const auto order = id_of(a) <=> id_of(b); order != 0) return order < 0;
    if (const auto order = metrics_[a.metric] <=> metrics_[b.metric]; order != 0) return order < 0;
    return a.added < b.added;
  });
  std::optional<Duplicate> earliest;
  for (std::size_t i = 1; i < entries_.size(); ++i) {
    const Stored& a = entries_[i - 1];
    const Stored& b = entries_[i];
    if (a.metric != b.metric || id_of(a) != id_of(b)) continue;
    if (!earliest || b.added < earliest->second) earliest = Duplicate{a.added, b.added};
  }
  return earliest;
}

}  // namespace sluice
