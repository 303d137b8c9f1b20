#include "coordinator/suite/suite_builder.hpp"

#include "common/defaults.hpp"
#include "common/documents/canonical_json.hpp"
#include "common/hash.hpp"
#include "common/memory.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/suite/expectations/command_reader.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

namespace sluice {

namespace {

bool checks_cost(const TextExpectation& what) {
  return is_or_holds(what, [](const TextExpectation& one) { return positive(one.metric) == MetricId::cost; });
}

}  // namespace

std::uint32_t SuiteBuilder::add_file(std::string path) {
  files_.push_back(std::move(path));
  return static_cast<std::uint32_t>(files_.size() - 1);
}

void SuiteBuilder::add(Case held, Place place) {
  const CaseFingerprints fingerprints = case_fingerprints(held);
  add(std::move(held), fingerprints, place);
}

void SuiteBuilder::add(Case held, const CaseFingerprints& fingerprints, Place place) {
  if (held.id.empty()) return;
  note(held, fingerprints, place);
  held.line = place.line;
  suite_.cases.push_back(std::move(held));
}

void SuiteBuilder::add(std::shared_ptr<const CaseFile> file, CaseList::Place in_file, const Case& one,
                       const CaseFingerprints& fingerprints, Place place) {
  if (one.id.empty()) return;
  note(one, fingerprints, place);
  suite_.cases.push_back(std::move(file), in_file, one.id, one.category);
}

std::string SuiteBuilder::text_of(Place place) const {
  return files_[place.file] + ":" + std::to_string(place.line);
}

void SuiteBuilder::note(const Case& one, const CaseFingerprints& fingerprints, Place place) {
  takes_prompts_ = takes_prompts_ || !one.prompts.empty();
  places_.push_back(place);
  if (places_.size() == defaults::cases_of_small_pages) use_little_memory();
  ShortDigest& digest = digests_.emplace_back();
  std::copy_n(fingerprints.whole.begin(), digest.size(), digest.begin());
  for (std::size_t i = 0; i < judging_.size(); ++i) judging_[i] ^= fingerprints.judging[i];
  const auto where = [&] { return text_of(place); };
  if (one.kind == CaseKind::text && one.weight != 1.0 && suite_.idle_weights++ == 0)
    suite_.idle_weight = where();
  if (one.replaced_default && suite_.replaced_defaults++ < defaults::named_entries)
    suite_.replaced_default.push_back(std::string(info(*one.replaced_default).name) + " (" + where() + ')');
  for (const Expectation& expectation : one.expectations) {
    note_metric(expectation.what.metric, expectation.name, place);
    suite_.checks_costs = suite_.checks_costs || checks_cost(expectation.what);
    suite_.takes_non_answers = suite_.takes_non_answers || takes_non_answers(expectation.what);
    labels_.add(expectation.what, {place.file, place.line});
    if (!has_command(expectation.what)) continue;
    if (suite_.runs_command.empty()) suite_.runs_command = where();
    visit_commands(expectation.what, [this](const TextExpectation& what) {
      if (suite_.commands.size() <= defaults::max_noted_commands) suite_.commands.insert(what.texts.front());
    });
    if (one.brings_command && suite_.brings_command.empty()) suite_.brings_command = where();
    suite_.brings_commands = suite_.brings_commands || one.brings_command;
  }
  if (!one.expectations.empty()) return;
  for (const MetricInfo& metric : metric_catalogue()) {
    if (is_claims_metric(metric.id)) note_metric(metric.id, "", place);
  }
}

void SuiteBuilder::note_metric(MetricId metric, const std::string& score_name, Place place) {
  metrics_.set(static_cast<std::size_t>(metric));
  if (info(metric).kind != MetricKind::scored) return;
  if (score_name.empty()) {
    unnamed_scores_.set(static_cast<std::size_t>(metric));
  } else if (const auto known = named_scores_.find({metric, score_name}); known != named_scores_.end()) {
    ++known->second.tests;
  } else if (named_scores_.size() < defaults::max_score_names) {
    named_scores_.emplace(ScoreId{metric, score_name}, ScoreUse{1, place});
  } else if (!too_many_scores_) {
    too_many_scores_ = place;
  }
}

void SuiteBuilder::find_too_many_scores(std::vector<Finding>& findings) const {
  if (!too_many_scores_) return;
  findings.push_back(
      {files_[too_many_scores_->file], too_many_scores_->line,
       "a suite has at most " + std::to_string(defaults::max_score_names) +
           " names of scores, and the test here brings one more: give the scores of one quality "
           "one name in all tests (means and comparisons are over the tests that share it)"});
}

std::vector<ScoreId> SuiteBuilder::scores() const {
  std::vector<ScoreId> scores;
  for (const auto& [score, use] : named_scores_) scores.push_back(score);
  for (const MetricId metric : suite_.metrics) {
    if (unnamed_scores_.test(static_cast<std::size_t>(metric))) scores.push_back({metric});
  }
  std::ranges::sort(scores);
  return scores;
}

const std::vector<std::uint32_t>& SuiteBuilder::order() {
  if (order_.size() == places_.size()) return order_;
  order_.resize(places_.size());
  std::iota(order_.begin(), order_.end(), 0u);
  const auto before = [this](std::uint32_t a, std::uint32_t b) {
    const int compared = suite_.cases.id(a).compare(suite_.cases.id(b));
    return compared != 0 ? compared < 0 : a < b;
  };
  // Often they come in order.
  if (!std::ranges::is_sorted(order_, before)) std::ranges::sort(order_, before);
  return order_;
}

void SuiteBuilder::find_duplicates(std::vector<Finding>& findings) {
  const auto& by_id = order();
  std::size_t first = 0;
  std::size_t found = 0;
  for (std::size_t i = 1; i < by_id.size(); ++i) {
    const std::string_view id = suite_.cases.id(by_id[i]);
    if (id != suite_.cases.id(by_id[first])) {
      first = i;
      continue;
    }
    if (++found > defaults::max_file_findings) continue;
    const Place& here = places_[by_id[i]];
    const Place& there = places_[by_id[first]];
    findings.push_back({files_[here.file], here.line,
                        "the id \"" + excerpt(id, 80) + "\" is already used in " + files_[there.file] + ":" +
                            std::to_string(there.line)});
  }
  if (found <= defaults::max_file_findings) return;
  const std::size_t more = found - defaults::max_file_findings;
  findings.push_back({files_.front(), 0,
                      std::to_string(more) + (more == 1 ? " more test has the id of another"
                                                        : " more tests have ids of others")});
}

void SuiteBuilder::find_wrong_labels(std::vector<Finding>& findings) const {
  labels_.find_problems(files_, findings);
}

Suite SuiteBuilder::finish(std::string name, const Thresholding& thresholding, const SuiteDemands& demands) {
  Sha256Stream hash;
  std::string head = "{";
  if (demands.examples) head += "\"examples\":\"" + to_hex(*demands.examples) + "\",";
  if (demands.min_stability) {
    head += "\"min_stability\":";
    append_canonical_number(head, *demands.min_stability);
    head += ',';
  }
  head += "\"name\":";
  append_json_string(head, name);
  if (demands.repeat) {
    head += ",\"repeat\":";
    append_canonical_number(head, *demands.repeat);
  }
  head += ",\"thresholding\":" + canonical_thresholding(thresholding) + "}";
  hash.update(head);
  for (const std::uint32_t index : order()) {
    const ShortDigest& digest = digests_[index];
    hash.update({reinterpret_cast<const char*>(digest.data()), digest.size()});
  }
  suite_.content_fingerprint = hash.finish();
  suite_.judging_fingerprint = sha256(head + to_hex(judging_));
  suite_.name = std::move(name);
  suite_.thresholding = thresholding;
  suite_.labels = std::exchange(labels_, {}).all();
  for (std::size_t number = 0; number < metrics_.size(); ++number) {
    if (metrics_.test(number)) suite_.metrics.push_back(static_cast<MetricId>(number));
  }
  suite_.scores = scores();
  for (const auto& [score, use] : named_scores_)
    suite_.named_scores.push_back({score, use.tests, text_of(use.first)});
  // Before the cases are sorted, which takes memory of its own.
  std::vector<Place>().swap(places_);
  std::vector<ShortDigest>().swap(digests_);
  std::vector<std::uint32_t>().swap(order_);
  suite_.cases.sort_by_id();
  return std::exchange(suite_, {});
}

}  // namespace sluice
