#include "coordinator/suite/test_files/csv_tests.hpp"

#include "common/defaults.hpp"
#include "common/text/template.hpp"
#include "common/text/text.hpp"
#include "common/text/trimmed.hpp"
#include "coordinator/suite/documents/csv_rows.hpp"
#include "coordinator/suite/documents/document_context.hpp"
#include "coordinator/suite/documents/json_document.hpp"
#include "coordinator/suite/expectations/foreign_check.hpp"
#include "coordinator/suite/expectations/foreign_type.hpp"
#include "coordinator/suite/expectations/metric_types.hpp"
#include "coordinator/suite/prompts/arms.hpp"
#include "coordinator/suite/score_id.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>

namespace sluice {
namespace {

constexpr std::string_view expected_column = "__expected";

bool is_expected_column(std::string_view name) {
  if (!name.starts_with(expected_column)) return false;
  const std::string_view number = name.substr(expected_column.size());
  return number.size() <= 2 && std::ranges::all_of(number, is_digit);
}

constexpr std::string_view threshold_column = "__threshold";
constexpr std::string_view metric_column = "__metric";

/// Behind a variable's name: its cells are JSON, so that a number is one.
constexpr std::string_view json_suffix = ":json";

/// Those that join tests to a conversation are none that a tag could stand for.
bool is_metadata_column(std::string_view name) {
  const auto metadata = parse_foreign_metadata(name, "");
  return metadata && metadata->key != "conversationId";
}

/// What is wrong with the name of a column that begins with `__` and says nothing of a test. To take out one
/// that was meant for checks would take these out.
std::string problem_with_column(std::string_view name) {
  constexpr std::string_view metadata = "__metadata";
  constexpr std::array stems{expected_column,
                             threshold_column,
                             metric_column,
                             metadata,
                             std::string_view("__description"),
                             std::string_view("__id"),
                             std::string_view("__category")};
  const std::string_view stem = name.substr(0, name.find(':'));
  const std::string_view bare = stem.substr(0, stem.find_last_not_of("0123456789") + 1);
  const auto meant = nearest(bare, stems);
  if (meant && *meant != bare) {
    const std::string_view rest = meant == expected_column ? stem.substr(bare.size())
                                  : meant == metadata      ? name.substr(stem.size())
                                                           : std::string_view();
    return "is unknown; did you mean \"" + *meant + std::string(rest) + "\"?";
  }
  if (bare == expected_column)
    return "is none of those for checks: these are __expected, and __expected1 to __expected99";
  return "has no counterpart here: take it out; there are __expected, __threshold, __metric, __description, "
         "__metadata:KEY, __id and __category";
}

/// The key of a test that a column sets; empty if it sets none.
std::string_view key_of(std::string_view column) {
  if (column == "__id") return "id";
  if (column == "__description") return "name";
  if (column == "__category") return "category";
  return {};
}

class CsvTests {
 public:
  CsvTests(const TestSource& source, SuiteBuilder& builder, std::vector<Finding>& findings)
      : source_(source), context_{source.file, Notation::yaml, findings}, builder_(builder) {}

  void add(std::string_view text) {
    CsvRows table = parse_csv(text);
    for (DocumentError& error : table.errors) context_.add(error.line, std::move(error.message));
    if (table.rows.empty()) {
      if (table.errors.empty())
        context_.add(0, "the tests file is empty: its first line has the names of the variables");
      return;
    }
    if (source_.prompts->empty()) miss_prompts(table.rows.front().line);
    if (!read_header(table.rows.front())) return;
    const std::uint32_t file = builder_.add_file(source_.file);
    name_scores(std::span<const CsvRow>(table.rows).subspan(1));
    for (std::size_t i = 1; i < table.rows.size(); ++i) add_test(table.rows[i], i, file);
    if (table.rows.size() == 1 && table.errors.empty())
      context_.add(table.rows.front().line, "there is no row below the names of the variables");
  }

 private:
  /// Said once: a prompt stands in for each row.
  void miss_prompts(std::uint32_t line) {
    context_.add(line,
                 "the rows of a table are asked by the suite's \"prompts\", and it has none: add them, such "
                 "as prompts: [\"Capital of {{country}}?\"]");
    const DocumentNode prompt{std::string("?"), line, {}};
    auto prompts = std::make_shared<SuitePrompts>();
    prompts->read({"prompts", line, {DocumentNode::Array{prompt}, line, {}}}, context_, source_.read_file,
                  source_.opened);
    source_.prompts = std::move(prompts);
  }

  bool read_header(const CsvRow& header) {
    if (std::string problem = other_separator(header); !problem.empty()) {
      context_.add(header.line, std::move(problem));
      return false;
    }
    const std::size_t before = context_.findings.size();
    std::set<std::string> known;
    for (const std::string& field : header.fields) {
      std::string name = field.substr(std::min(field.find_first_not_of(" \t"), field.size()));
      name.erase(name.find_last_not_of(" \t") + 1);
      const std::string shown =
          "the column \"" + excerpt(to_valid_utf8(name), defaults::quoted_bytes) + "\" ";
      const bool is_about_test = is_expected_column(name) || !key_of(name).empty() ||
                                 is_metadata_column(name) || name == threshold_column ||
                                 name == metric_column;
      const bool is_json = !name.starts_with("__") && name.ends_with(json_suffix);
      if (is_json) name.resize(name.size() - json_suffix.size());
      if (!known.insert(name).second) {
        context_.add(header.line, shown + "stands twice");
      } else if (name.starts_with("__") && !is_about_test) {
        context_.add(header.line, shown + problem_with_column(name));
      } else if (!is_about_test && !is_variable_name(name)) {
        context_.add(header.line, shown +
                                      "cannot be a variable's name: these are of letters, digits, \"_\", "
                                      "\"-\" and \".\", and begin with none of the last two");
      }
      columns_.push_back(std::move(name));
      holds_json_.push_back(is_json);
    }
    if (context_.findings.size() == before) refuse_unjudged(header.line);
    const DocumentNode row = source_.defaults->apply({DocumentNode::Table(), header.line, {}});
    const DocumentEntry* vars = find_entry(row, "vars");
    has_context_ = std::ranges::find(columns_, "context") != columns_.end() ||
                   (vars != nullptr && find_entry(vars->value, "context") != nullptr);
    return context_.findings.size() == before;
  }

  /// A column that is meant for the checks is a variable without its underscores, and each row lacks checks.
  void refuse_unjudged(std::uint32_t line) {
    const auto meant = std::ranges::find_if(
        columns_, [](const std::string& name) { return name == "expected" || name == "_expected"; });
    if (meant == columns_.end() || std::ranges::any_of(columns_, is_expected_column)) return;
    const DocumentNode row = source_.defaults->apply({DocumentNode::Table(), line, {}});
    if (find_entry(row, "expected") != nullptr) return;
    context_.add(line, "the column \"" + *meant +
                           "\" is a variable, and none says what the answers are judged by: call it "
                           "\"__expected\"");
  }

  void add_test(const CsvRow& row, std::size_t number, std::uint32_t file) {
    if (row.fields.size() != columns_.size()) {
      const char* const advice = row.fields.size() > columns_.size()
                                     ? "a field with a comma in it stands in quotes"
                                     : "an empty field has its comma, too";
      return context_.add(row.line, "the row has " + counted_fields(row.fields.size()) + ", and there are " +
                                        std::to_string(columns_.size()) + " columns: " + advice);
    }
    if (const auto bad = std::ranges::find_if(
            row.fields, [](const std::string& field) { return invalid_utf8_at(field).has_value(); });
        bad != row.fields.end()) {
      return context_.add(row.line, "is not valid UTF-8" + std::string(how_to_reach_utf8));
    }
    const auto node = test_of(row, number);
    if (!node) return;
    ParsedTest parsed = parse_test(*node, source_);
    std::move(parsed.findings.begin(), parsed.findings.end(), std::back_inserter(context_.findings));
    builder_.add(std::move(parsed.test), {file, parsed.id_line});
  }

  static std::string counted_fields(std::size_t count) {
    return std::to_string(count) + (count == 1 ? " field" : " fields");
  }

  /// The row as a test; nothing if one of its cells asks for what there is not, which is then a finding.
  std::optional<DocumentNode> test_of(const CsvRow& row, std::size_t number) {
    const auto text = [&](std::string value) { return DocumentNode{std::move(value), row.line, {}}; };
    DocumentNode::Table test;
    DocumentNode::Table vars;
    DocumentNode::Array tags;
    DocumentNode::Array expected;
    std::string threshold;
    std::string metric;
    bool is_sound = true;
    source_.metric_places.clear();
    check_columns_.clear();
    std::string id =
        std::filesystem::path(source_.source).stem().generic_string() + "-" + std::to_string(number);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string& cell = row.fields[i];
      if (is_expected_column(columns_[i])) {
        is_sound = add_expectation(cell, row.line, columns_[i], expected) && is_sound;
      } else if (columns_[i] == "__id") {
        if (!cell.empty()) id = cell;
      } else if (columns_[i] == threshold_column) {
        threshold = trimmed(cell);
      } else if (columns_[i] == metric_column) {
        metric = trimmed(cell);
      } else if (const auto metadata = parse_foreign_metadata(columns_[i], cell)) {
        for (const std::string& value : metadata->values)
          tags.push_back(text(one_line(metadata->key + ":" + value)));
      } else if (const std::string_view key = key_of(columns_[i]); !key.empty()) {
        if (!cell.empty()) test.push_back({std::string(key), row.line, text(cell)});
      } else if (auto value = value_of(i, cell, row.line)) {
        vars.push_back({columns_[i], row.line, std::move(*value)});
      } else {
        is_sound = false;
      }
    }
    if (!threshold.empty()) is_sound = is_sound && put_threshold(threshold, row.line, expected);
    if (!is_sound || !put_score_names(metric, row.line, expected)) return std::nullopt;
    if (!tags.empty()) test.push_back({"tags", row.line, {std::move(tags), row.line, {}}});
    test.push_back({"id", row.line, text(std::move(id))});
    if (!expected.empty()) test.push_back({"expected", row.line, {std::move(expected), row.line, {}}});
    std::vector<DocumentError> none_twice;
    sort_entries(vars, none_twice);
    test.push_back({"vars", row.line, {std::move(vars), row.line, {}}});
    sort_entries(test, none_twice);
    return DocumentNode{std::move(test), row.line, {}};
  }

  /// A variable's; nothing if it is no JSON where it should be, which is then a finding.
  std::optional<DocumentNode> value_of(std::size_t column, const std::string& cell, std::uint32_t line) {
    if (!holds_json_[column]) return DocumentNode{cell, line, {}};
    auto value = parse_json(cell, line);
    if (value) return std::move(*value);
    context_.add(line, "the column \"" + columns_[column] + std::string(json_suffix) +
                           "\" must hold JSON, such as 12, true or \"a text\", not \"" +
                           excerpt(one_line(cell), defaults::quoted_bytes) + '"');
    return std::nullopt;
  }

  /// A cell that asks for nothing by a name of other harnesses, and begins with that of a check. Alone that
  /// is one which needs nothing more, and no plain word, such as `refusal`, which may be the answer.
  static std::optional<std::string> own_check_named_by(const std::string& cell) {
    const auto colon = cell.find(':');
    std::string name(trimmed(std::string_view(cell).substr(0, colon)));
    const MetricType* type = type_called(name);
    const std::string_view bare = name.starts_with("not_") ? std::string_view(name).substr(4) : name;
    if (type == nullptr || foreign_type_called(bare) != nullptr) return std::nullopt;
    const bool may_be_text = !type->needs_no_key() || name.find_first_of("_-") == std::string::npos;
    if (colon == std::string::npos && may_be_text) return std::nullopt;
    return name;
  }

  bool add_expectation(const std::string& cell, std::uint32_t line, const std::string& column,
                       DocumentNode::Array& expected) {
    if (cell.find_first_not_of(" \t\n") == std::string::npos) return true;
    ForeignCheck check = parse_foreign_check(cell, line);
    const bool is_text = check.values == std::vector{cell};
    const auto refuse = [&](const std::string& name, const std::string& what) {
      const std::string word = excerpt(one_line(name), defaults::quoted_bytes);
      const char* rest = cell.find(':') != std::string::npos ? ": ..." : "";
      context_.add(line, "\"" + column + "\" asks for \"" + word + "\", " + what +
                             " A text that begins so is \"equals: " + word + rest + '"');
      return false;
    };
    if (const auto name = is_text ? own_check_named_by(cell) : std::nullopt) {
      return refuse(*name,
                    "a check of suites in YAML, which no cell can ask for: docs/suites.md lists what a cell "
                    "may ask for.");
    }
    if (const auto misspelt = is_text ? misspelt_check(cell) : std::nullopt)
      return refuse(misspelt->word, "which is no check; did you mean \"" + misspelt->meant + "\"?");
    if (has_context_ && takes_foreign_context(check.type)) check.context = foreign_context;
    auto made = expectation_of(check);
    if (!made) {
      context_.add(line, "\"" + column + "\" asks for " + (check.is_negated ? "not-" : "") + check.type +
                             ", which " + made.error() + ": docs/suites.md lists what a cell may ask for");
      return false;
    }
    expected.push_back(in_order(std::move(*made)));
    source_.metric_places.push_back("the column \"" + column + '"');
    check_columns_.push_back(column);
    return true;
  }

  /// A cell has no place for a name. Where some row has two scores of one metric and does not name them, all
  /// columns with such scores but the first give their names, so that a score is called the same in each row.
  void name_scores(std::span<const CsvRow> rows) {
    std::map<MetricId, std::set<std::size_t>> columns;
    std::set<MetricId> in_need;
    for (const CsvRow& row : rows) {
      if (is_one_group(row) || !cell_of(row, metric_column).empty()) continue;
      std::set<MetricId> in_row;
      for (std::size_t i = 0; i < std::min(columns_.size(), row.fields.size()); ++i) {
        const auto metric =
            is_expected_column(columns_[i]) ? score_in(row.fields[i], row.line) : std::nullopt;
        if (!metric) continue;
        columns[*metric].insert(i);
        if (!in_row.insert(*metric).second) in_need.insert(*metric);
      }
    }
    for (const MetricId metric : in_need) {
      const auto& all = columns[metric];
      for (auto column = std::next(all.begin()); column != all.end(); ++column)
        score_names_[{metric, columns_[*column]}] = name_by_column(columns_[*column]);
    }
  }

  /// Without its underscores.
  static std::string name_by_column(const std::string& column) { return column.substr(column.find('e')); }

  /// Empty where there is none.
  std::string_view cell_of(const CsvRow& row, std::string_view column) const {
    const auto at = static_cast<std::size_t>(std::ranges::find(columns_, column) - columns_.begin());
    return at < row.fields.size() ? trimmed(row.fields[at]) : std::string_view();
  }

  /// Its threshold makes parts of its checks, which have no names.
  bool is_one_group(const CsvRow& row) const {
    return foreign_number(cell_of(row, threshold_column)).value_or(0.0) != 0.0;
  }

  static std::optional<MetricId> score_in(const std::string& cell, std::uint32_t line) {
    if (cell.find_first_not_of(" \t\n") == std::string::npos) return std::nullopt;
    const auto made = expectation_of(parse_foreign_check(cell, line));
    const MetricType* type =
        made ? type_called(std::get<std::string>(find_entry(*made, "type")->value.value)) : nullptr;
    return type != nullptr && takes_name(info(type->id)) ? std::optional(type->id) : std::nullopt;
  }

  /// `metric`: what the row calls them; empty where it does not. False if they cannot be called so.
  bool put_score_names(const std::string& metric, std::uint32_t line, DocumentNode::Array& expected) {
    const auto refuse = [&](const std::string& what) {
      context_.add(line, "\"" + std::string(metric_column) + "\" " + what);
      return false;
    };
    if (!metric.empty() && !is_arm_name(metric))
      return refuse(not_an_arm_name(metric) + ": such as \"" + arm_name_of(metric) + '"');
    std::set<MetricId> scored;
    for (std::size_t i = 0; i < check_columns_.size(); ++i) {
      const auto& type = std::get<std::string>(find_entry(expected[i], "type")->value.value);
      const MetricId id = type_called(type)->id;
      if (!takes_name(info(id))) continue;
      const bool is_first = scored.insert(id).second;
      std::string name = metric;
      if (metric.empty()) {
        const auto found = score_names_.find({id, check_columns_[i]});
        if (found == score_names_.end()) continue;
        name = found->second;
      } else if (!is_first) {
        name += '-' + name_by_column(check_columns_[i]);
      }
      std::get<DocumentNode::Table>(expected[i].value).push_back({"name", line, {std::move(name), line, {}}});
      expected[i] = in_order(std::move(expected[i]));
    }
    if (metric.empty() || !scored.empty()) return true;
    return refuse(
        "names the scores among the row's checks, and the row has none: leave it empty; "
        "\"__category\" groups tests");
  }

  /// The checks as parts of one, of which that share must pass; false if they cannot be.
  bool put_threshold(const std::string& cell, std::uint32_t line, DocumentNode::Array& expected) {
    const auto refuse = [&](const std::string& what) {
      context_.add(line, "\"" + std::string(threshold_column) + "\" " + what);
      return false;
    };
    const auto share = foreign_number(cell);
    if (!share || !(*share >= 0.0 && *share <= 1.0)) {
      return refuse("must be a number from 0 to 1, not \"" + excerpt(one_line(cell), defaults::quoted_bytes) +
                    "\"");
    }
    if (*share == 0.0) return true;  // In promptfoo's files it is none.
    if (expected.empty()) return refuse("is of the checks in its row, which has none");
    for (const DocumentNode& one : expected) {
      const auto& type = std::get<std::string>(find_entry(one, "type")->value.value);
      if (!type_called(type)->may_be_part()) {
        return refuse("is of checks that need no model, and its row has " + type +
                      ": leave it empty, so that each check must pass");
      }
    }
    DocumentNode::Table group{{"of", line, {std::move(expected), line, {}}},
                              {"pass_mark", line, {*share, line, {}}},
                              {"type", line, {std::string("all_of"), line, {}}}};
    expected = {{std::move(group), line, {}}};
    source_.metric_places.clear();
    check_columns_.clear();
    return true;
  }

  TestSource source_;
  DocumentContext context_;
  SuiteBuilder& builder_;
  std::vector<std::string> columns_;
  std::vector<bool> holds_json_;                                         ///< By column.
  std::vector<std::string> check_columns_;                               ///< Of the row's checks.
  std::map<std::pair<MetricId, std::string>, std::string> score_names_;  ///< By metric and column.
  bool has_context_ = false;  ///< Each row has the variable `context`, itself or by the default test.
};

}  // namespace

void add_csv_tests(std::string_view text, const TestSource& source, SuiteBuilder& builder,
                   std::vector<Finding>& findings) {
  CsvTests(source, builder, findings).add(text);
}

}  // namespace sluice
