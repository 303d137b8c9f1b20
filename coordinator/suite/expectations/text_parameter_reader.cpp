#include "coordinator/suite/expectations/text_parameter_reader.hpp"

#include "common/defaults.hpp"
#include "common/documents/canonical_json.hpp"
#include "common/text/template.hpp"
#include "common/text/text.hpp"
#include "common/text/trimmed.hpp"
#include "common/text/words.hpp"
#include "coordinator/suite/expectations/command_reader.hpp"
#include "coordinator/suite/expectations/metric_table.hpp"
#include "coordinator/suite/expectations/schema_reader.hpp"
#include "coordinator/suite/test_files/test_templates.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <variant>

namespace sluice {
namespace {

constexpr int most_nested_groups = 4;

double read_whole(TableReader& reader, std::string_view key, double otherwise, double most,
                  double least = 0.0) {
  const auto given = reader.number_in(key, least, most);
  if (given && *given != std::floor(*given)) reader.add_wrong(key, "must be a whole number");
  return given.value_or(otherwise);
}

/// 1 where the calls come as they are listed.
double read_order(TableReader& reader) {
  const auto order = reader.word("order").value_or("any");
  if (order != "any" && order != "listed") reader.add_wrong("order", "must be \"any\" or \"listed\"");
  return order == "listed" ? 1.0 : 0.0;
}

/// RFC 6901: `/` before each step, in which `~` stands for `~0` and `/` for `~1`.
bool is_json_pointer(std::string_view path) {
  if (!path.starts_with('/')) return false;
  for (auto at = path.find('~'); at != std::string_view::npos; at = path.find('~', at + 1)) {
    if (at + 1 == path.size() || (path[at + 1] != '0' && path[at + 1] != '1')) return false;
  }
  return true;
}

/// A text of fewer words shares no run of n with any answer.
void check_words(TableReader& reader, const std::vector<std::string>& texts, double n) {
  for (const std::string& text : texts) {
    // In a default test they are templates still; what each test makes of them is checked then.
    if (text.empty() || text.find("{{") != std::string::npos) continue;
    const std::size_t words = words_of(text).size();
    if (static_cast<double>(words) >= n) continue;
    reader.add_wrong("text", "must have at least \"n\" words, " + shortest(n) + " here: \"" +
                                 excerpt(one_line(text), defaults::quoted_bytes) + "\" has " +
                                 std::to_string(words));
  }
}

/// White space around a label counts as little as around an answer; blanks alone stay what is refused.
std::string without_blanks_around(std::string_view label) {
  const std::string_view bare = trimmed(label);
  return std::string(bare.empty() ? label : bare);
}

}  // namespace

/// By its parameter; groups come back to it for each of their parts.
void TextParameterReader::read(TableReader& reader, const MetricType& type, TextExpectation& what) {
  std::vector<std::string>& texts = what.texts;
  std::vector<double>& numbers = what.numbers;
  switch (type.parameter) {
    case Parameter::text:
      texts = read_texts(reader, type);
      break;
    case Parameter::distance:
      texts = read_texts(reader, type);
      numbers = {read_whole(reader, "max_distance", 5, most_distance)};
      break;
    case Parameter::rouge:
      texts = read_texts(reader, type);
      numbers = {read_whole(reader, "n", 1, most_rouge_words, 1)};
      check_words(reader, texts, numbers.front());
      break;
    case Parameter::json:
      texts = read_json_parameters(reader);
      break;
    case Parameter::call:
      texts = read_call(reader, type.id);
      break;
    case Parameter::call_list:
      texts = read_calls(reader, type.id);
      numbers = {read_order(reader)};
      break;
    case Parameter::label:
      texts = read_label(reader);
      break;
    case Parameter::calls:
      note_all_tools(reader, type);
      break;
    case Parameter::latency:
      numbers = {reader.number_in("max_ms", 0.0, 1e9, Need::required).value_or(1.0)};
      if (numbers.front() == 0.0) reader.add_wrong("max_ms", "must be more than 0: no answer takes no time");
      break;
    case Parameter::cost:
      numbers = {reader.number_in("max_dollars", 0.0, 1e6, Need::required).value_or(0.0)};
      break;
    case Parameter::any_of:
    case Parameter::all_of:
      numbers = {reader.number_in("pass_mark", 0.0, 1.0).value_or(1.0)};
      what.parts = read_group(reader, type, numbers.front());
      break;
    case Parameter::command:
      what = read_command(reader, source_, type.id);
      break;
    case Parameter::pattern:
      texts = read_patterns(reader);
      break;
    case Parameter::schema:
      texts = read_schema_parameter(reader);
      break;
    case Parameter::claims:
    case Parameter::judge:
    case Parameter::none:
      break;
  }
}

std::vector<std::string> TextParameterReader::read_json_parameters(TableReader& reader) const {
  if (reader.entry("schema") == nullptr) return {"{}"};  // Any JSON fits it.
  return read_schema_parameter(reader);
}

std::vector<std::string> TextParameterReader::read_schema_parameter(TableReader& reader) const {
  auto schema = read_schema(reader, source_, canonical_json);
  if (!schema) return {};
  const auto* path = std::get_if<std::string>(&reader.entry("schema")->value.value);
  note_unfilled(reader, "schema", *schema, path != nullptr ? names_file(*path) : "");
  return {std::move(*schema)};
}

std::vector<std::string> TextParameterReader::read_call(TableReader& reader, MetricId metric) const {
  const DocumentNode* arguments = reader.table("arguments");
  if (reader.entry("name") == nullptr) {
    if (reader.entry("arguments") != nullptr)
      reader.add_wrong("arguments", "need the \"name\" of the tool that is called with them");
    return {};
  }
  std::string name = reader.word("name").value_or("");
  if (arguments != nullptr && !has_only_json_values(*arguments))
    reader.add_wrong("arguments", "hold a number that is not finite");
  std::string wanted = arguments != nullptr ? canonical_json(*arguments) : "{}";
  note_unfilled(reader, "name", name);
  if (passes_without(metric)) note_unseen(reader, "arguments", wanted);
  if (source_.checker != nullptr && !name.empty()) {
    const std::string shown = excerpt(name, defaults::quoted_bytes);
    tools_.push_back(
        {name, arguments != nullptr ? wanted : "", metric_, passes_without(metric), has_alternatives_,
         reader.wrong("name", "is \"" + shown + "\", which is none of the \"tools\" in the test's input"),
         reader.wrong("arguments", "are none that the \"parameters\" of " + shown + " take")});
  }
  return {std::move(name), std::move(wanted)};
}

std::vector<std::string> TextParameterReader::read_calls(TableReader& reader, MetricId metric) const {
  std::vector<std::string> texts;
  const DocumentNode::Array* list = reader.array("calls", Need::required);
  if (list == nullptr) return texts;
  if (list->empty())
    reader.add_wrong(
        "calls", "must not be empty: tool_call and not_tool_call without a name ask for any call, or none");
  if (list->size() > most_listed_calls)
    reader.add_wrong("calls", "must have at most " + std::to_string(most_listed_calls) + " entries");
  for (std::size_t i = 0; i < list->size(); ++i) {
    auto call = context_.table_reader((*list)[i], reader.name() + ".calls[" + std::to_string(i) + "]",
                                      R"(such as {"name": "look_up"})");
    if (!call) continue;
    call->entry("name", Need::required, "a string");
    std::ranges::move(read_call(*call, metric), std::back_inserter(texts));
    call->finish();
  }
  return texts;
}

/// What labels there may be is checked when all tests are read (label_sets.hpp).
std::vector<std::string> TextParameterReader::read_label(TableReader& reader) const {
  const auto label = reader.word("label", Need::required);
  std::vector<std::string> texts{std::string(trimmed(label.value_or(""))), reader.word("path").value_or("")};
  if (label && texts[0].empty()) reader.add_empty("label");
  if (const std::string& path = texts[1]; !path.empty() && !is_json_pointer(path))
    reader.add_wrong("path", R"(must be a JSON pointer, such as "/intent")");
  note_unfilled(reader, "path", texts[1]);
  auto labels = reader.texts("labels").value_or(std::vector<std::string>());
  for (const std::string& label : labels) note_unfilled(reader, "labels", label);
  std::ranges::transform(labels, std::back_inserter(texts), without_blanks_around);
  return texts;
}

void TextParameterReader::note_all_tools(const TableReader& reader, const MetricType& type) const {
  if (source_.checker == nullptr) return;
  NamedTool all;
  all.metric = metric_;
  all.has_alternatives = depth_ > 0;  // What else the group asks for may need a call.
  all.finding = reader.wrong("type", "is " + std::string(type.name()));
  tools_.push_back(std::move(all));
}

/// What looks like a variable in a text that is no template. `named` says which file holds it.
void TextParameterReader::note_unfilled(const TableReader& reader, std::string_view key,
                                        std::string_view text, const std::string& named) const {
  if (source_.checker == nullptr) return;
  for (const std::string_view name : variables_in(text)) {
    const std::string shown = excerpt(name, defaults::quoted_bytes);
    unfilled_.push_back({std::string(name), metric_,
                         reader.wrong(key, named + "holds {{" + shown +
                                               "}}, a variable of the test, which is not filled in here: " +
                                               way_without_variable(key, shown))});
  }
}

/// What to do in place of a variable.
std::string TextParameterReader::way_without_variable(std::string_view key, const std::string& name) const {
  if (key != "pattern" && key != "schema") return "write out what it stands for";
  const std::string texts =
      source_.may_leave_variables ? "\"contains:\" or \"not-contains:\"" : "must_contain or must_not_contain";
  const std::string way = "look for its text with " + texts + ", or write the " + std::string(key) + " out";
  return key == "pattern" ? way + "; \\{\\{" + name + "\\}\\} looks for the braces themselves" : way;
}

std::vector<TextExpectation> TextParameterReader::read_group(TableReader& reader, const MetricType& type,
                                                             double pass_mark) {
  const bool was_turned_round = is_turned_round_;
  const bool had_alternatives = has_alternatives_;
  is_turned_round_ = is_turned_round_ != is_negated(type.id);
  has_alternatives_ = has_alternatives_ || type.parameter == Parameter::any_of || pass_mark < 1.0;
  auto parts = read_parts(reader);
  is_turned_round_ = was_turned_round;
  has_alternatives_ = had_alternatives;
  return parts;
}

std::vector<TextExpectation> TextParameterReader::read_parts(TableReader& reader) {
  std::vector<TextExpectation> parts;
  const DocumentNode::Array* list = reader.array("of", Need::required);
  if (list == nullptr) return parts;
  if (list->empty()) reader.add_wrong("of", "must not be empty");
  if (++depth_ > most_nested_groups) {
    reader.add_wrong("of", "nests deeper than " + std::to_string(most_nested_groups) + " groups");
  } else {
    for (std::size_t i = 0; i < list->size(); ++i)
      read_part((*list)[i], reader.name() + ".of[" + std::to_string(i) + "]", parts);
  }
  --depth_;
  return parts;
}

void TextParameterReader::read_part(const DocumentNode& node, const std::string& name,
                                    std::vector<TextExpectation>& parts) {
  auto metric = open_metric(node, name, context_, source_.suite);
  if (!metric) return;
  auto& [reader, type] = *metric;
  TextExpectation part;
  part.metric = type.id;
  if (!type.may_be_part()) {
    // Its other keys are right where it may stand.
    return reader.add_wrong("type",
                            "cannot be " + std::string(type.name()) +
                                " here: parts are metrics of the answer that need no model; put it beside "
                                "the group, as an entry of its own in \"expected\"");
  }
  refuse_foreign_keys(reader, type);
  refuse_other_keys(reader, type);
  read(reader, type, part);
  if (type.is_scored()) {
    part.numbers.push_back(reader.number_in("min_score", 0.0, 1.0, Need::required).value_or(0.0));
  } else {
    refuse_limits(reader, type);
  }
  const auto weight = reader.number_in("weight", 0.0, 1000.0);
  if (weight && *weight == 0.0) reader.add_wrong("weight", "must be more than 0");
  part.weight = weight.value_or(1.0);
  reader.finish();
  parts.push_back(std::move(part));
}

std::vector<std::string> TextParameterReader::read_texts(TableReader& reader, const MetricType& type) const {
  auto texts = reader.texts("text", Need::required);
  // An empty text is contained in every answer and similar to none; it can only be exactly the answer.
  const auto says_nothing = [&](const std::string& text) {
    return positive(type.id) == MetricId::starts_with ? trimmed(text).empty() : text.empty();
  };
  if (texts && positive(type.id) != MetricId::exact_match && std::ranges::any_of(*texts, says_nothing))
    reader.add_empty("text");
  // As `not_contains` has it, none of them; by the word, not all of them.
  if (texts && texts->size() > 1 && type.name() == info(MetricId::not_icontains).name) {
    reader.add_wrong("text",
                     "must be one text here; of several, not_icontains_any asks that none of them stands in "
                     "the answer, and not_icontains_all that not all of them do");
  }
  if (texts && passes_without(type.id)) {
    for (const std::string& text : *texts) note_unseen(reader, "text", text);
  }
  return std::move(texts).value_or(std::vector<std::string>());
}

bool TextParameterReader::passes_without(MetricId metric) const {
  return (metric == MetricId::must_not_contain || is_negated(metric)) != is_turned_round_;
}

/// A variable in a text that must not be found, of a test that may have no variables at all.
void TextParameterReader::note_unseen(const TableReader& reader, std::string_view key,
                                      std::string_view text) const {
  for (const std::string_view name : variables_in(text)) {
    const std::string shown = excerpt(name, defaults::quoted_bytes);
    const std::string why =
        "holds {{" + shown +
        "}}, and the test has no \"vars\": the check would pass for want of the braces; "
        "give it \"vars\" with \"" +
        shown + "\", or, where the braces themselves are meant, \"vars: {}\" and {{ '{{' }}" + shown + "}}";
    unfilled_.push_back({std::string(name), metric_, reader.wrong(key, why), true});
  }
}

std::vector<std::string> TextParameterReader::read_patterns(TableReader& reader) {
  auto patterns = reader.texts("pattern", Need::required);
  if (!patterns) return {};
  for (const std::string& pattern : *patterns) {
    if (source_.checker == nullptr) break;
    const std::string& problem = source_.checker->problem_with_pattern(pattern);
    if (!problem.empty()) reader.add_wrong("pattern", "cannot be used: " + problem);
    if (pattern.empty()) reader.add_wrong("pattern", "must not be empty: it is found in every answer");
    note_unfilled(reader, "pattern", pattern);
  }
  return std::move(*patterns);
}

}  // namespace sluice
