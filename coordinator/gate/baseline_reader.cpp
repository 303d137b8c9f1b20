#include "coordinator/gate/baseline_reader.hpp"

#include "common/text.hpp"
#include "coordinator/gate/baseline_stability.hpp"
#include "coordinator/gate/billionths.hpp"
#include "coordinator/gate/quoted.hpp"
#include "coordinator/gate/repeated_judgement.hpp"
#include "coordinator/gate/timestamp.hpp"

#include <array>
#include <cstdlib>
#include <utility>

namespace sluice {
namespace {

// In the order of BaselineReader::Field.
constexpr std::array<std::string_view, 15> field_names{
    "",        "schema_version", "suite",      "assay_version", "created_at", "config_fingerprint",
    "entries", "stability",      "suite_path", "mode",          "test_id",    "metric",
    "score",   "meta",           "scores"};

template <class Field>
constexpr std::uint32_t number_of(Field field) {
  return static_cast<std::uint32_t>(field);
}

constexpr std::size_t header_depth = 1;
constexpr std::size_t list_depth = 2;
constexpr std::size_t entry_depth = 3;
constexpr std::size_t shown_bytes = 60;
constexpr std::size_t max_repeat_scores = 1000;  ///< More repeats than a run can have.

/// What the parser stopped at. It hands out its last text or number and all that came after it.
std::string quoted_end(std::string_view token) {
  const std::size_t behind = behind_text(token);
  const bool is_text = token.starts_with('"') && behind == 0;
  token.remove_prefix(behind);
  if (!is_text && token.size() > 1) {
    // Control characters stand in it as <U+000A>.
    const std::size_t before = token.find_last_of(" ,:[]{}>", token.size() - 2);
    if (before != std::string_view::npos) token.remove_prefix(before + 1);
  }
  return "`" + to_valid_utf8(end_of(token, shown_bytes)) + "`";
}

}  // namespace

void BaselineReader::problem(std::string message) {
  problem_at(source_.line(), std::move(message));
}

void BaselineReader::problem_at(std::uint32_t line, std::string message) {
  if (!problem_) problem_ = Finding{file_, line, std::move(message)};
  if (in_meta_ || depth_ > header_depth) skip_to_depth(header_depth);
  in_meta_ = false;
  in_scores_ = false;
  in_entries_ = false;
}

std::string BaselineReader::place() const {
  std::string text;
  if (in_entries_) {
    text = "entries";
    if (depth_ >= list_depth) text += "[" + std::to_string(lines_.size()) + "]";
    if (depth_ >= entry_depth && !name_.empty()) text += "." + escaped_excerpt(name_);
  } else if (depth_ >= header_depth && !name_.empty()) {
    text = escaped_excerpt(name_);
  }
  return text;
}

std::string BaselineReader::in_place() const {
  const std::string text = place();
  return text.empty() ? "" : " in `" + text + "`";
}

std::string BaselineReader::expected(const JsonValue& value, std::string_view what) const {
  return "`" + place() + "` is " + shown(value) + ", expected " + std::string(what);
}

// --- Events ------------------------------------------------------------------------------------------------

bool BaselineReader::key(std::string_view name) {
  if (in_meta_) {
    if (!meta_.key(name)) problem("the key " + quoted(name) + in_place() + " stands there twice");
    return true;
  }
  if (skipping()) return true;
  name_ = name;
  field_ = Field::none;
  const bool in_header = depth_ == header_depth;
  const auto first = number_of(in_header ? Field::schema_version : Field::test_id);
  const auto last = number_of(in_header ? Field::mode : Field::scores);
  for (auto number = first; number <= last; ++number) {
    if (field_names[number] == name) field_ = static_cast<Field>(number);
  }
  if (in_header && name == "fixture_results") {
    is_report_ = true;
    return false;
  }
  if (field_ != Field::none) note_field(field_);
  return true;
}

void BaselineReader::note_field(Field field) {
  const std::uint32_t bit = 1u << number_of(field);
  if ((seen_ & bit) != 0) problem("the key `" + place() + "` stands there twice");
  seen_ |= bit;
}

bool BaselineReader::value(const JsonValue& value) {
  if (opens(value) && depth_ == max_depth) {
    problem("is nested deeper than " + std::to_string(max_depth) + " levels" + in_place());
    return false;
  }
  if (in_meta_) {
    meta_value(value);
  } else if (in_scores_) {
    repeat_score(value);
  } else if (!skipping()) {
    if (depth_ == 0) {
      if (value.kind != JsonValue::Kind::object) {
        problem("holds " + shown(value) + ", expected a JSON object");
        return false;
      }
    } else if (depth_ == header_depth) {
      header_value(value);
    } else if (depth_ == list_depth) {
      if (value.kind == JsonValue::Kind::object) {
        entry_ = Entry{.line = source_.line()};
        name_.clear();
      } else {
        problem(expected(value, "an object"));
      }
    } else {
      entry_value(value);
    }
  }
  if (opens(value)) ++depth_;
  return true;
}

bool BaselineReader::close() {
  --depth_;
  root_closed_ = depth_ == 0;
  if (in_meta_) {
    if (meta_.close()) {
      in_meta_ = false;
      in_entries_ ? void(entry_.meta = meta_.canonical()) : read_stability();
    }
    return true;
  }
  if (in_scores_) {
    in_scores_ = false;
    return true;
  }
  if (skipping()) {
    if (depth_ == *skipped_above_) skipped_above_.reset();
    return true;
  }
  if (in_entries_ && depth_ == list_depth) finish_entry();
  if (depth_ == header_depth) in_entries_ = false;
  return true;
}

void BaselineReader::broken(std::string_view token, bool out_of_range) {
  if (problem_) return;
  const bool in_character = stops_in_character(token);
  const std::string at = in_character ? "a character that is not ASCII" : quoted_end(token);
  const bool nothing_opened = depth_ == 0 && !root_closed_;
  switch (source_.end()) {
    case JsonSource::End::unreadable:
      return problem("cannot be read to its end");
    case JsonSource::End::text_too_long:
      return problem("holds more than 1 GiB, which no baseline does");
    case JsonSource::End::piece_too_long:
      return problem("holds more than 1 MiB in one piece" + in_place());
    default:
      break;
  }
  if (root_closed_) {
    problem("goes on after the end of its JSON object with " + at + ": remove what follows it");
  } else if (out_of_range) {
    problem("holds the number " + at + in_place() +
            ", which is too large for any score; expected a number from 0 to 1");
  } else if (source_.blank()) {
    problem("is empty, expected a baseline as --export-baseline writes it");
  } else if (source_.end() == JsonSource::End::whole) {
    problem("ends too early" + in_place() + ": it was cut off; copy it again, or write it anew with " +
            "`sluice run SUITE --export-baseline FILE`");
  } else if (!in_character && invalid_utf8_at(token)) {
    problem("is not UTF-8 text at " + at + in_place());
  } else if (nothing_opened) {
    problem(std::string("is not JSON, so neither a baseline nor a JSON report: ") +
            "`sluice run SUITE --export-baseline FILE` writes the one, " +
            "`sluice run SUITE --format json --output FILE` the other");
  } else {
    problem("is not JSON at " + at + in_place());
  }
}

// --- The header --------------------------------------------------------------------------------------------

void BaselineReader::header_value(const JsonValue& value) {
  if (field_ == Field::schema_version) {
    schema_version(value);
  } else if (!problem_) {
    switch (field_) {
      case Field::suite:
        text_value(value, baseline_.header.suite);
        break;
      case Field::assay_version:
        text_value(value, baseline_.header.assay_version);
        break;
      case Field::created_at:
        created_at(value);
        break;
      case Field::config_fingerprint:
        text_value(value, baseline_.header.config_fingerprint);
        break;
      case Field::suite_path:
        text_value(value, baseline_.header.suite_path);
        break;
      case Field::mode:
        text_value(value, baseline_.header.mode);
        break;
      case Field::entries:
        if (value.kind != JsonValue::Kind::list) {
          problem(expected(value, "a list"));
          break;
        }
        in_entries_ = true;
        return;
      case Field::stability:
        if (value.kind == JsonValue::Kind::object) return begin_stability(value);
        problem(expected(value, "an object"));
        break;
      default:
        break;
    }
  }
  if (opens(value)) skip_to_depth(header_depth);
}

void BaselineReader::schema_version(const JsonValue& value) {
  version_seen_ = true;
  if (!value.whole) {
    if (!problem_) problem(expected(value, "1, written as a whole number"));
    return;
  }
  if (*value.whole == baseline_schema_version) return;
  const bool newer = *value.whole > baseline_schema_version;
  // Says more than whatever else is wrong with a file that this program does not know.
  problem_ = Finding{file_, source_.line(),
                     "has schema_version " + std::to_string(*value.whole) + ", and this sluice reads " +
                         std::to_string(baseline_schema_version) +
                         ": regenerate the baseline with `sluice run SUITE --export-baseline FILE`" +
                         (newer ? ", or use a newer sluice" : "")};
}

void BaselineReader::created_at(const JsonValue& value) {
  if (value.kind != JsonValue::Kind::text || !is_rfc3339(value.text)) {
    return problem(expected(value, "a time as of RFC 3339, like \"2025-12-21T12:00:00Z\""));
  }
  baseline_.header.created_at = value.text;
}

void BaselineReader::text_value(const JsonValue& value, std::string& target) {
  if (value.kind != JsonValue::Kind::text || value.text.empty()) {
    return problem(expected(value, "a text that is not empty"));
  }
  target = value.text;
}

// --- Entries -----------------------------------------------------------------------------------------------

void BaselineReader::entry_value(const JsonValue& value) {
  switch (field_) {
    case Field::test_id:
      return text_value(value, entry_.test_id);
    case Field::metric:
      return text_value(value, entry_.metric);
    case Field::score:
      return score(value);
    case Field::meta:
      if (value.kind != JsonValue::Kind::object) return problem(expected(value, "an object"));
      meta_ = MetaBuilder();
      in_meta_ = true;
      return meta_.value(value);
    case Field::scores:
      if (value.kind != JsonValue::Kind::list)
        return problem(expected(value, "a list of numbers from 0 to 1"));
      in_scores_ = true;
      return;
    default:
      if (opens(value)) skip_to_depth(entry_depth);
  }
}

void BaselineReader::score(const JsonValue& value) {
  const bool in_range = value.kind == JsonValue::Kind::number && value.number >= 0.0 && value.number <= 1.0;
  if (!in_range) return problem(expected(value, "a number from 0 to 1"));
  entry_.score = value.number + 0.0;  // 0 for -0, which would be written as another text.
}

void BaselineReader::repeat_score(const JsonValue& value) {
  const bool in_range = value.kind == JsonValue::Kind::number && value.number >= 0.0 && value.number <= 1.0;
  if (!in_range) return problem(expected(value, "a list of numbers from 0 to 1"));
  if (entry_.scores.size() == max_repeat_scores) {
    return problem("`" + place() + "` holds more than " + std::to_string(max_repeat_scores) + " scores");
  }
  entry_.scores.push_back(value.number + 0.0);
}

void BaselineReader::begin_stability(const JsonValue& value) {
  meta_ = MetaBuilder();
  in_meta_ = true;
  meta_.value(value);
}

void BaselineReader::read_stability() {
  auto stability = parse_baseline_stability(meta_.canonical());
  if (!stability) return problem("`stability` " + stability.error());
  baseline_.stability = std::move(*stability);
}

void BaselineReader::meta_value(const JsonValue& value) {
  meta_.value(value);
  if (meta_.too_long()) {
    problem("`" + place() + "` holds more than " + std::to_string(MetaBuilder::max_bytes / 1024) + " KiB");
  }
}

void BaselineReader::finish_entry() {
  find_missing("`entries[" + std::to_string(lines_.size()) + "]`", entry_.line, Field::test_id, Field::score);
  constexpr auto entry_bits = (1u << number_of(Field::test_id)) - 1;
  seen_ &= entry_bits;
  if (problem_ || !is_mean_of_scores()) return;
  lines_.push_back(entry_.line);
  baseline_.add({entry_.test_id, entry_.metric, entry_.score, entry_.meta, entry_.scores});
}

/// The gate takes `score` and its tests take `scores`: two different truths would be two different verdicts.
bool BaselineReader::is_mean_of_scores() {
  if (entry_.scores.empty()) return true;
  MeanScore scores;
  for (const double score : entry_.scores) scores.add(score);
  const double mean = *scores.mean();
  if (std::abs(billionths(mean) - billionths(entry_.score)) <= 1) return true;
  problem_at(entry_.line, "`entries[" + std::to_string(lines_.size()) + "].score` is " +
                              shortest(entry_.score) + ", but the mean of its `scores` is " + shortest(mean));
  return false;
}

void BaselineReader::find_missing(std::string_view where, std::uint32_t line, Field first, Field last) {
  for (auto number = number_of(first); number <= number_of(last); ++number) {
    if ((seen_ & (1u << number)) != 0) continue;
    std::string message = where.empty() ? "has" : std::string(where) + " has";
    return problem_at(line, message + " no `" + std::string(field_names[number]) + "`, which is required");
  }
}

tl::expected<Baseline, Finding> BaselineReader::finish() {
  if (is_report_) {
    return tl::unexpected(Finding{file_, source_.line(),
                                  "is a report: `sluice compare` reads reports, --baseline takes what "
                                  "--export-baseline wrote"});
  }
  if (!problem_) find_missing("", 0, Field::schema_version, Field::entries);
  if (problem_) return tl::unexpected(*problem_);
  const std::optional<Baseline::Duplicate> twice = baseline_.seal();
  if (!twice) return std::move(baseline_);
  return tl::unexpected(Finding{file_, lines_[twice->second],
                                "`entries[" + std::to_string(twice->second) +
                                    "]` has the test_id and metric of `entries[" +
                                    std::to_string(twice->first) + "]` (line " +
                                    std::to_string(lines_[twice->first]) + "): keep one of the two"});
}

}  // namespace sluice
