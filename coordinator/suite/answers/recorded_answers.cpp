#include "coordinator/suite/answers/recorded_answers.hpp"

#include "common/defaults.hpp"
#include "common/text/joined.hpp"
#include "common/text/text.hpp"
#include "coordinator/suite/answers/recorded_calls.hpp"
#include "coordinator/suite/answers/span_answers.hpp"
#include "coordinator/suite/documents/document_context.hpp"
#include "coordinator/suite/documents/json_document.hpp"
#include "coordinator/suite/documents/json_lines.hpp"
#include "coordinator/suite/prompts/arm.hpp"
#include "coordinator/suite/score_id.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace sluice {
namespace {

constexpr std::string_view answer_example = R"(an answer is {"id": "TEST", "answer": "..."})";

/// The votes of a judgement: whether each passed, and the scores if they are given one by one.
std::optional<std::vector<CountedVote>> read_samples(TableReader& reader, double score) {
  const auto* samples = reader.array("samples", Need::required);
  const auto* scores = reader.array("scores");
  if (samples == nullptr) return std::nullopt;
  if (samples->empty() || samples->size() > defaults::max_judge_samples ||
      (scores != nullptr && scores->size() != samples->size())) {
    reader.add_wrong("samples", "must be 1 to " + std::to_string(defaults::max_judge_samples) +
                                    " booleans, and \"scores\" as many numbers");
    return std::nullopt;
  }
  std::vector<CountedVote> votes;
  for (std::size_t i = 0; i < samples->size(); ++i) {
    const auto* passed = std::get_if<bool>(&(*samples)[i].value);
    CountedVote vote{score, passed != nullptr && *passed};
    if (scores != nullptr) {
      const DocumentNode& given = (*scores)[i];
      const auto* whole = std::get_if<std::int64_t>(&given.value);
      const auto* real = std::get_if<double>(&given.value);
      vote.score = whole != nullptr ? static_cast<double>(*whole) : real != nullptr ? *real : -1.0;
    }
    if (passed == nullptr || !(vote.score >= 0.0 && vote.score <= 1.0)) {
      reader.add_wrong("samples", "must be booleans, and \"scores\" numbers from 0 to 1");
      return std::nullopt;
    }
    votes.push_back(vote);
  }
  return votes;
}

/// True where `score` is not the mean of `scores`, but for its rounding. By either the answer may pass or
/// fail.
bool contradicts_votes(double score, const JudgeScore& judged) {
  constexpr double rounding = 0.005;
  return std::abs(score - judged.score()) > rounding + 1e-9;
}

class AnswerReader {
 public:
  AnswerReader(const DocumentContext& context, const Redactor& redactor, AnsweredTest& answer)
      : context_(context), redactor_(redactor), answer_(answer) {}

  /// The test's id; nothing if it is not named.
  std::optional<std::string> read(const DocumentNode& node) {
    TableReader reader = context_.reader(node, "the answer");
    auto id = reader.word("id", Need::required);
    read_answer(reader);
    answer_.answer.model = reader.word("model").value_or("");
    if (const auto context = reader.texts("context")) answer_.context = joined(*context, paragraph_break);
    if (const DocumentNode* usage = reader.table("usage")) read_usage(context_.reader(*usage, "usage"));
    if (const DocumentNode* meta = reader.table("meta")) read_meta(*meta);
    reader.finish();
    return id;
  }

 private:
  /// An answer with calls needs no text. Without the key the text says whether there are any.
  void read_answer(TableReader& reader) {
    const DocumentEntry* given = reader.entry("tool_calls");
    const bool has_null = given != nullptr && std::holds_alternative<DocumentNull>(given->value.value);
    const auto* calls = given != nullptr && !has_null ? reader.array("tool_calls") : nullptr;
    const bool calls_tools = calls != nullptr && !calls->empty();
    const DocumentEntry* text = reader.entry("answer");
    // Messages of chat completions have null beside their calls.
    if (!calls_tools || (text != nullptr && !std::holds_alternative<DocumentNull>(text->value.value)))
      answer_.answer.text = reader.text("answer", Need::required).value_or("");
    if (given == nullptr) take_calls_of_text(answer_.answer);
    if (!calls_tools) return;
    for (std::size_t i = 0; i < calls->size(); ++i)
      read_call((*calls)[i], "tool_calls[" + std::to_string(i) + "]");
  }

  void read_call(const DocumentNode& node, const std::string& name) {
    if (!std::holds_alternative<DocumentNode::Table>(node.value)) {
      context_.add(node.line, name + " must be an object with \"name\" and \"arguments\", not " +
                                  std::string(type_name(node, context_.notation)));
      return;
    }
    TableReader reader = context_.reader(node, name);
    for (const char* of_chat_completions : {"id", "type", "index"}) reader.entry(of_chat_completions);
    if (reader.entry("function") == nullptr) {
      take_call(reader);
    } else if (const DocumentNode* function = reader.table("function")) {
      TableReader inner = context_.reader(*function, name + ".function");
      take_call(inner);
      inner.finish();
    }
    reader.finish();
  }

  void take_call(TableReader& reader) {
    const auto name = reader.word("name", Need::required);
    const DocumentEntry* arguments = reader.entry("arguments");
    if (name) add_call(answer_.answer, *name, arguments != nullptr ? &arguments->value : nullptr);
  }

  void read_usage(TableReader reader) {
    answer_.answer.usage.input_tokens = reader.count("input_tokens").value_or(0);
    answer_.answer.usage.output_tokens = reader.count("output_tokens").value_or(0);
    reader.finish();
  }

  /// Other programs keep things of their own in `meta`: only the judgements are ours.
  void read_meta(const DocumentNode& meta) {
    const DocumentEntry* assay = find_entry(meta, "assay");
    const DocumentEntry* judge = assay == nullptr ? nullptr : find_entry(assay->value, "judge");
    if (judge == nullptr) return;
    const auto* metrics = std::get_if<DocumentNode::Table>(&judge->value.value);
    if (metrics == nullptr) {
      context_.add(judge->line, "\"meta.assay.judge\" must be an object of judge metrics");
      return;
    }
    for (const DocumentEntry& entry : *metrics) read_judgement(entry);
  }

  void read_judgement(const DocumentEntry& entry) {
    const auto [metric, name] = parts_of_score(entry.key);
    if (metric == nullptr || !is_judge_metric(metric->id)) {
      context_.add(entry.line, "\"meta.assay.judge\" names \"" + excerpt(entry.key, defaults::quoted_bytes) +
                                   "\", which is no metric by a judge");
      return;
    }
    if (!std::holds_alternative<DocumentNode::Table>(entry.value.value)) {
      context_.add(entry.line, "\"meta.assay.judge." + entry.key + "\" must be an object");
      return;
    }
    TableReader reader = context_.reader(entry.value, "meta.assay.judge." + entry.key);
    RecordedJudgement judged;
    judged.name = name;
    judged.rubric = reader.word("rubric").value_or(std::string(metric->name));
    judged.rubric_version = reader.word("rubric_version", Need::required).value_or("");
    const auto score = reader.number_in("score", 0.0, 1.0, Need::required);
    const auto votes = read_samples(reader, score.value_or(0.0));
    std::string rationale = reader.text("rationale").value_or("");
    redactor_.apply(rationale);
    judged.score.rationale = beginning(rationale, defaults::max_rationale_bytes);
    for (const char* derived :
         {"rubric_hash", "min_score", "passed", "source", "agreement", "calibration", "repeats"})
      reader.entry(derived);
    reader.finish();
    if (!score || !votes) return;
    judged.score.metric = metric->id;
    judged.score.source = JudgeSource::trace;
    judged.score.votes = *votes;
    if (contradicts_votes(*score, judged.score)) {
      reader.add_wrong("score", "is " + shortest(*score) + ", but the mean of \"scores\" is " +
                                    shortest(judged.score.score()) +
                                    ": correct one of them, or leave \"scores\" out");
      return;
    }
    answer_.judgements.push_back(std::move(judged));
  }

  const DocumentContext& context_;
  const Redactor& redactor_;
  AnsweredTest& answer_;
};

/// True also of a text of less than two lines, whose one finding says more.
bool holds_json(std::string_view text) {
  std::size_t lines = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (parse_json(line)) return true;
    ++lines;
  }
  return lines < 2 || parse_json(text).has_value();
}

/// By what a judgement was made, and what the test asks for; empty if that is one and the same.
std::string other_rubric(const Case& test, const RecordedJudgement& judged, std::span<const Rubric> rubrics) {
  for (const Expectation& one : test.expectations) {
    if (!one.judge || one.what.metric != judged.score.metric || one.name != judged.name) continue;
    const Rubric& asked = rubrics[one.judge->rubric];
    if (asked.id == judged.rubric && asked.version == judged.rubric_version) return "";
    const bool is_one_rubric = asked.id == judged.rubric;
    const auto shown = [&](const std::string& id, const std::string& version) {
      return excerpt(is_one_rubric ? version : id + " " + version, defaults::quoted_bytes);
    };
    return score_text(judged.score.metric, judged.name) + " is judged by " +
           shown(judged.rubric, judged.rubric_version) + " there, and the test \"" +
           excerpt(test.id, defaults::quoted_bytes) + "\" asks for " + shown(asked.id, asked.version);
  }
  return "";
}

/// Of a score that the test gives another name; empty if there is none.
std::string misnamed_judgement(const Case& test, const AnsweredTest& answer) {
  const auto judges = [](const Expectation& one) {
    return [&one](const RecordedJudgement& judged) {
      return judged.score.metric == one.what.metric && judged.name == one.name;
    };
  };
  for (const RecordedJudgement& judged : answer.judgements) {
    const auto is_asked = [&](const Expectation& one) { return judges(one)(judged); };
    if (std::ranges::any_of(test.expectations, is_asked)) continue;
    for (const Expectation& one : test.expectations) {
      if (one.what.metric != judged.score.metric || std::ranges::any_of(answer.judgements, judges(one)))
        continue;
      return "\"meta.assay.judge\" judges " + score_text(judged.score.metric, judged.name) +
             ", and the test \"" + excerpt(test.id, defaults::quoted_bytes) + "\" has " +
             score_text(one.what.metric, one.name) + ": call it that, or take the judgement out";
    }
  }
  return "";
}

}  // namespace

const AnsweredTest* RecordedAnswers::find(std::string_view test) const {
  const auto found = answers_.find(test);
  return found == answers_.end() ? nullptr : &found->second;
}

bool RecordedAnswers::have_calls() const {
  return std::ranges::any_of(answers_, [](const auto& one) { return !one.second.answer.calls.empty(); });
}

std::vector<Finding> RecordedAnswers::check_tests(const CaseList& cases) const {
  std::map<std::string_view, std::size_t> ids;
  for (std::size_t i = 0; i < cases.size(); ++i) ids.emplace(cases.id(i), i);
  std::vector<Finding> findings;
  for (const auto& [id, answer] : answers_) {
    if (const auto found = ids.find(id); found != ids.end()) {
      if (answer.judgements.empty()) continue;
      const auto test = cases.read(found->second);
      std::string problem = test ? misnamed_judgement(**test, answer) : test.error().message;
      if (!problem.empty()) findings.push_back({file_, answer.line, std::move(problem)});
      continue;
    }
    const std::string named = "\"" + excerpt(id, defaults::quoted_bytes) + "\"";
    const std::string arms = id + arm_separator;
    const auto under_arm = ids.lower_bound(arms);
    const bool has_arms = under_arm != ids.end() && under_arm->first.starts_with(arms);
    findings.push_back(
        {file_, answer.line,
         has_arms ? "the test " + named + " is asked under arms: say whose answer it is, as in \"" +
                        excerpt(under_arm->first, defaults::quoted_bytes) + "\""
                  : "the suite has no test " + named +
                        "; take the answer out, or name the test as the suite does (under arms: TEST@ARM)"});
  }
  sort_findings(findings);
  shorten_findings(findings, file_, "more answers that fit no test");
  return findings;
}

tl::expected<RecordedAnswers, std::vector<Finding>> parse_recorded_answers(std::string_view text,
                                                                           const std::string& file,
                                                                           const Redactor& redactor) {
  // A suite, or whatever else it is: each line would be a finding.
  if (!holds_json(text)) {
    return tl::unexpected(
        std::vector<Finding>{{file, 0, "no line of it is JSON; " + std::string(answer_example)}});
  }
  RecordedAnswers recorded;
  recorded.file_ = file;
  std::vector<Finding> findings;
  const DocumentContext context{file, Notation::json, findings};
  const auto keep = [&](std::string id, AnsweredTest answer) {
    const std::uint32_t line = answer.line;
    const auto [place, is_new] = recorded.answers_.try_emplace(id, std::move(answer));
    if (is_new) return;
    context.add(line, "the test \"" + excerpt(id, defaults::quoted_bytes) + "\" is answered in line " +
                          std::to_string(place->second.line) + " already; leave one of the two");
  };
  const auto keep_spans = [&](const DocumentNode& node) {
    for (auto& [id, answer] : answers_in_spans(node, context)) keep(std::move(id), std::move(answer));
  };
  JsonLines lines(text);
  bool is_first = true;
  while (findings.size() < defaults::max_file_findings) {
    const auto line = lines.next();
    if (!line) break;
    const auto& [number, node] = *line;
    if (std::exchange(is_first, false) && !node) {
      // One object over many lines, as some exporters write it.
      if (const auto whole = parse_json(text); whole && is_span_export(*whole)) {
        keep_spans(*whole);
        break;
      }
    }
    if (!node) {
      context.add(node.error().line, node.error().message);
    } else if (is_span_export(*node)) {
      keep_spans(*node);
    } else if (!std::holds_alternative<DocumentNode::Table>(node->value)) {
      context.add(number, "the line is " + std::string(type_name(*node, Notation::json)) + "; " +
                              std::string(answer_example));
    } else {
      AnsweredTest answer;
      answer.line = number;
      if (auto id = AnswerReader(context, redactor, answer).read(*node))
        keep(std::move(*id), std::move(answer));
    }
  }
  if (findings.empty() && recorded.size() == 0) {
    context.add(0, "there is no answer in it; " + std::string(answer_example) +
                       ", or a span with the attribute \"sluice.test\"");
  }
  if (!findings.empty()) {
    sort_findings(findings);
    return tl::unexpected(std::move(findings));
  }
  return recorded;
}

std::optional<std::string> passed_over_judgements(const CaseList& cases, std::span<const Rubric> rubrics,
                                                  const std::string& file) {
  Finding first{file, 0, ""};
  std::size_t count = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!cases.has_answer(i)) continue;
    const auto test = cases.read(i);
    if (!test) continue;  // Whoever needs it says so.
    for (const RecordedJudgement& judged : (*test)->recorded->judgements) {
      std::string words = other_rubric(**test, judged, rubrics);
      if (words.empty() || count++ > 0) continue;
      first.line = (*test)->recorded->line;
      first.message = std::move(words);
    }
  }
  if (count == 0) return std::nullopt;
  first.message += count == 1 ? "; that judgement counts for nothing"
                              : "; " + std::to_string(count) + " such judgements count for nothing";
  return to_text(first);
}

}  // namespace sluice
