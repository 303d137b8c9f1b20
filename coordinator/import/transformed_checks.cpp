#include "coordinator/import/transformed_checks.hpp"

#include "common/documents/canonical_json.hpp"
#include "common/model/metrics.hpp"
#include "coordinator/import/bound_checks.hpp"
#include "coordinator/import/foreign_transform.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

namespace sluice {
namespace {

using Checks = std::vector<ImportedCheck>;

bool reads_answer(const ImportedCheck& check) {
  const MetricInfo* metric = find_metric(check.type);
  if (metric == nullptr) return true;
  const MetricId id = positive(metric->id);
  return id != MetricId::latency && id != MetricId::cost;
}

/// What to do about it.
std::string way_without(const ImportedCheck& check) {
  const MetricInfo* metric = find_metric(check.type);
  if (metric != nullptr && is_judge_metric(metric->id))
    return ", and a judge reads the whole answer: say in its criteria what counts";
  if (metric != nullptr && metric->id == MetricId::semantic_similarity_to)
    return ", and the whole answer is compared";
  return std::string(write_as_javascript);
}

class Judged {
 public:
  Judged(const DocumentNode& transform, std::string_view whose, const ImportFile& from)
      : transform_(transform), whose_(whose), from_(from) {}

  std::optional<ImportedCheck> check(ImportedCheck check) const {
    if (!reads_answer(check)) return check;
    if (!check.parts.empty()) return group(std::move(check));
    if (check.program) return program(std::move(check));
    auto said = in_words(check);
    if (said) return std::move(*said);
    if (check.script) return program(std::move(check));
    leave_out(check, said.error(), from_);
    return std::nullopt;
  }

 private:
  /// By a metric that says the same of the answer itself; or a clause that says why there is none.
  tl::expected<ImportedCheck, std::string> in_words(ImportedCheck check) const {
    const std::string* script = text_in(transform_);
    const auto known = script != nullptr ? read_transform(*script) : std::nullopt;
    CheckSource source = *check.source;
    // White space at the ends of a member is within the answer.
    const bool is_within = known && !known->path.empty() && source.is_trimmed;
    auto said = known && !is_within ? check_of_answer(source.check, *known) : std::nullopt;
    if (!said) return tl::unexpected("judges what " + whose_ + " makes of the answer" + way_without(check));
    // A pattern of ours, or a schema, is none that its text was read as.
    if (said->type != source.check.type && !takes_foreign_list(said->type)) {
      source.reading = CheckSource::Reading::text;
      source.has_own_pattern = true;
    }
    source.check = std::move(*said);
    source.is_trimmed = source.is_trimmed || known->trims;
    const auto finished = finish(check, std::move(source));
    if (!finished) return tl::unexpected(finished.error());
    if (check.script) check.script = transformed_script(check);
    return check;
  }

  /// A part less would be another group.
  std::optional<ImportedCheck> group(ImportedCheck made) const {
    for (ImportedCheck& part : made.parts) {
      auto one = check(std::move(part));
      if (!one) return std::nullopt;
      part = std::move(*one);
    }
    make_group(made);
    return made;
  }

  /// For a further transform that words cannot say.
  std::shared_ptr<const ForeignProgram> transformed_script(const ImportedCheck& check) const {
    ForeignProgram program = *check.script;
    if (!add_transform(program, transform_, from_.with(check.file)).empty()) return nullptr;
    return std::make_shared<const ForeignProgram>(std::move(program));
  }

  std::optional<ImportedCheck> program(ImportedCheck made) const {
    ForeignProgram program = made.program ? *made.program : *made.script;
    const std::string problem = add_transform(program, transform_, from_.with(made.file));
    if (!problem.empty())
      leave_out(made, "judges what " + whose_ + " makes of the answer: the transform " + problem, from_);
    if (!problem.empty()) return std::nullopt;
    made.variables = program.variables;
    made.program = std::make_shared<const ForeignProgram>(std::move(program));
    made.expectation = {};
    made.type.clear();
    made.leniency = {};
    made.source.reset();
    made.script.reset();
    return made;
  }

  const DocumentNode& transform_;
  std::string whose_;
  const ImportFile& from_;
};

/// Null if the answer stays as it is.
const DocumentNode* changing(const std::optional<DocumentNode>& transform) {
  return transform && !keeps_answer(*transform) ? &*transform : nullptr;
}

Checks of_answers(Checks checks, const DocumentNode* transform, std::string_view whose,
                  const ImportFile& from) {
  if (transform == nullptr) return checks;
  const Judged judged(*transform, whose, from);
  Checks kept;
  for (ImportedCheck& check : checks) {
    if (auto one = judged.check(std::move(check))) kept.push_back(std::move(*one));
  }
  return kept;
}

bool are_same(const DocumentNode* one, const DocumentNode* other) {
  if (one == nullptr || other == nullptr) return one == other;
  return canonical_json(*one) == canonical_json(*other);
}

}  // namespace

std::optional<ImportedCheck> check_of_answer(ImportedCheck check, const DocumentNode& transform,
                                             std::string_view whose, const ImportFile& from) {
  return Judged(transform, whose, from).check(std::move(check));
}

void take_transform(ImportedTest& test, const DocumentNode& transform, std::string_view whose,
                    const ImportFile& from) {
  const std::size_t before = test.checks.size();
  test.checks = of_answers(std::move(test.checks), &transform, whose, from);
  test.lost_checks = test.lost_checks || test.checks.size() < before;
}

void take_transforms(ImportedTest& shared, std::vector<ImportedTest>& tests, const ImportFile& from) {
  constexpr std::string_view whose = "the \"transform\" of its test";
  const DocumentNode* usual = changing(shared.transform);
  const Checks all = shared.checks;
  shared.checks = of_answers(std::move(shared.checks), usual, whose, from);
  const bool shares_readers = std::ranges::any_of(shared.checks, reads_answer);
  for (ImportedTest& test : tests) {
    const DocumentNode* own = test.transform ? changing(test.transform) : usual;
    if (own != nullptr) take_transform(test, *own, whose, from);
    if (are_same(own, usual) || !test.takes_default_checks) continue;
    Checks given;
    std::ranges::copy_if(all, std::back_inserter(given),
                         [&](const ImportedCheck& check) { return shares_readers || reads_answer(check); });
    std::ranges::move(of_answers(std::move(given), own, whose, from), std::back_inserter(test.checks));
    test.takes_default_checks = !shares_readers;
  }
}

}  // namespace sluice
