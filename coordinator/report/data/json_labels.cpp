#include "coordinator/report/data/json_labels.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace sluice {
namespace {

using Label = ConfusionMatrix::Label;

/// `values[]`, one for each label.
template <class Value>
void write_list(Json& json, std::string_view name, std::size_t labels, const Value& value_of) {
  json.line(3);
  json.key(name).open('[');
  for (std::size_t i = 0; i < labels; ++i) json.value(value_of(static_cast<Label>(i)));
  json.close(']');
}

void write_counts(Json& json, const ConfusionMatrix& matrix) {
  json.line(3);
  json.key("counts").open('[');
  for (std::size_t expected = 0; expected < matrix.labels(); ++expected) {
    json.line(4);
    json.open('[');
    for (std::size_t said = 0; said < matrix.labels(); ++said)
      json.value(matrix.count(static_cast<Label>(expected), static_cast<Label>(said)));
    json.close(']');
  }
  json.text() += "\n      ";
  json.close(']');
}

void write_answers(Json& json, const LabelledAnswers& answers, const ReportInput& input) {
  const ConfusionMatrix& matrix = answers.matrix;
  json.line(2);
  json.open('{');
  if (input.arms != nullptr) json.member("arm", input.arms->arms.at(answers.arm).name);
  json.member("path", answers.path);
  json.member("answers", matrix.answers());
  json.member("left_out", answers.left_out);
  json.member("accuracy", matrix.accuracy());
  json.member("macro_f1", matrix.macro_f1());
  const auto list = [&](std::string_view name, const auto& value_of) {
    write_list(json, name, matrix.labels(), value_of);
  };
  list("names", [&](Label label) {
    std::string name = answers.names[label];
    if (input.redactor != nullptr) input.redactor->apply(name);
    return name;
  });
  write_counts(json, matrix);
  list("none", [&](Label label) { return matrix.count(label, std::nullopt); });
  list("support", [&](Label label) { return matrix.of(label).support; });
  list("precision", [&](Label label) { return matrix.of(label).precision(); });
  list("recall", [&](Label label) { return matrix.of(label).recall(); });
  list("f1", [&](Label label) { return matrix.of(label).f1(); });
  json.text() += "\n    ";
  json.close('}');
}

}  // namespace

void write_json_labels(Json& json, const ReportInput& input) {
  json.line(1);
  json.key("labels").open('[');
  for (const LabelledAnswers& answers : *input.labels) write_answers(json, answers, input);
  json.text() += "\n  ";
  json.close(']');
}

}  // namespace sluice
