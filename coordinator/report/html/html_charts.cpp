#include "coordinator/report/html/html_charts.hpp"

#include "coordinator/report/html/xml_text.hpp"
#include "coordinator/report/wording/wording.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace sluice {
namespace {

constexpr double width = 640;
constexpr double least_label_width = 300;
constexpr double most_label_width = 480;
constexpr double character_width = 6.5;  // About, of 12 pixels.
constexpr double row_height = 24;
constexpr double margin = 10;

std::string number(double value) {
  return wording::fixed(value, 1);
}

/// `<rect class="pass" x="1.0"/>`: the coordinates by name.
std::string shape(std::string_view name, std::string_view style,
                  std::initializer_list<std::pair<std::string_view, double>> coordinates,
                  const std::string& title = "") {
  std::string text = "<" + std::string(name) + " class=\"" + std::string(style) + "\"";
  for (const auto& [key, value] : coordinates) text += " " + std::string(key) + "=\"" + number(value) + "\"";
  if (title.empty()) return text + "/>";
  return text + "><title>" + xml_escaped(title) + "</title></" + std::string(name) + ">";
}

std::string words(double x, double y, const std::string& text, std::string_view anchor = "start") {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + std::string(anchor) +
         "\">" + xml_escaped(text) + "</text>";
}

std::string picture(const std::string& heading, double height, const std::string& inner) {
  return "<h3>" + xml_escaped(heading) + "</h3>\n<svg role=\"img\" viewBox=\"0 0 " + number(width) + " " +
         number(height) + "\" width=\"" + number(width) + "\" height=\"" + number(height) + "\"><title>" +
         xml_escaped(heading) + "</title>" + inner + "</svg>\n";
}

std::string status_bar(const Totals& all) {
  const StatusCounts& statuses = all.statuses;
  const std::vector<std::tuple<std::string_view, std::string_view, std::uint64_t>> parts{
      {"pass", "pass", statuses.passed},
      {"warn", "warn", all.warned()},
      {"warn", "flaky", statuses.flaky},
      {"warn", "known failure", all.known_failures},
      {"fail", "fail", statuses.failed},
      {"error", "error", all.errors()},
      {"unstarted", "not started", all.not_started}};
  std::string inner;
  std::string heading;
  double x = 0;
  for (const auto& [style, words, count] : parts) {
    if (count == 0) continue;
    const double part = width * static_cast<double>(count) / static_cast<double>(statuses.total());
    const std::string title = std::string(words) + " " + wording::grouped(count);
    inner += shape("rect", style, {{"x", x}, {"y", 0}, {"width", part}, {"height", row_height}}, title);
    heading += (heading.empty() ? "" : ", ") + title;
    x += part;
  }
  return heading.empty() ? "" : picture("Cases: " + heading, row_height, inner);
}

/// A value with the range in which it may truly lie.
struct Estimate {
  std::string label;
  double value = 0.0;
  double low = 0.0;
  double high = 0.0;
};

/// Beside the plots; the names of two arms are long.
double width_of_labels(const std::vector<Estimate>& rows) {
  std::size_t longest = 0;
  for (const Estimate& row : rows) longest = std::max(longest, row.label.size());
  return std::clamp(character_width * static_cast<double>(longest), least_label_width, most_label_width);
}

/// Where a row's numbers are, between two ends.
class Scale {
 public:
  Scale(double low, double high, double labels) : low_(low), high_(high), label_width_(labels) {}
  double at(double value) const {
    const double share = (std::clamp(value, low_, high_) - low_) / (high_ - low_);
    return label_width_ + share * (width - label_width_ - margin);
  }
  double low() const { return low_; }
  double high() const { return high_; }

 private:
  double low_;
  double high_;
  double label_width_;
};

std::string estimates(const std::string& heading, const std::vector<Estimate>& rows, const Scale& scale,
                      const std::vector<double>& marks) {
  if (rows.empty()) return "";
  const double bottom = row_height * static_cast<double>(rows.size());
  std::string inner =
      shape("line", "axis",
            {{"x1", scale.at(scale.low())}, {"y1", bottom}, {"x2", scale.at(scale.high())}, {"y2", bottom}});
  for (const double mark : marks) {
    inner += shape("line", mark == 0.0 ? "axis" : "limit",
                   {{"x1", scale.at(mark)}, {"y1", 0}, {"x2", scale.at(mark)}, {"y2", bottom}});
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Estimate& row = rows[i];
    const double y = row_height * (static_cast<double>(i) + 0.5);
    const std::string title = row.label + ": " + wording::fixed(row.value, 2) + " (" +
                              wording::fixed(row.low, 2) + " to " + wording::fixed(row.high, 2) + ")";
    inner += words(0, y + 4, row.label);
    inner +=
        shape("line", "range", {{"x1", scale.at(row.low)}, {"y1", y}, {"x2", scale.at(row.high)}, {"y2", y}});
    inner += shape("circle", "point", {{"cx", scale.at(row.value)}, {"cy", y}, {"r", 5}}, title);
  }
  inner += words(scale.at(scale.low()), bottom + 16, wording::fixed(scale.low(), 2));
  inner += words(scale.at(scale.high()), bottom + 16, wording::fixed(scale.high(), 2), "end");
  return picture(heading, bottom + row_height, inner);
}

/// Both sides of 0 alike, so that a gain and a loss of one size look alike.
Scale around_zero(const std::vector<Estimate>& rows) {
  double most = 0.05;
  for (const Estimate& row : rows) most = std::max({most, std::abs(row.low), std::abs(row.high)});
  return {-most, most, width_of_labels(rows)};
}

std::string stability_chart(const RunStability& stability) {
  std::vector<Estimate> rows;
  for (const PerturbationSummary& one : stability.perturbations) {
    if (!one.stability || !one.stability->figures.stability) continue;
    const StabilityFigures& figures = one.stability->figures;
    rows.push_back({one.facts.name, *figures.stability, figures.interval.low, figures.interval.high});
  }
  const std::string heading = "Stability by perturbation: the share of answers that stay the same";
  return estimates(heading, rows, Scale(0.0, 1.0, width_of_labels(rows)), {});
}

std::string statistics_chart(const StatisticalAssessment& statistics) {
  std::vector<Estimate> rows;
  for (const StatisticalMetric& one : statistics.metrics) {
    if (!one.comparison.drop) continue;
    const double change = -*one.comparison.drop;
    const std::string arm = one.arm.empty() ? "" : one.arm + ", ";
    rows.push_back({arm + name_of(one.mean), change,
                    -one.decision.drop_upper_bound.value_or(*one.comparison.drop), change});
  }
  return estimates("Change against the baseline, down to what cannot be excluded", rows, around_zero(rows),
                   {0.0, -statistics.rules.min_effect});
}

std::string arms_chart(const RunArms& arms) {
  std::vector<Estimate> rows;
  for (const ArmPair& pair : arms.pairs) {
    for (const ArmMetricComparison& one : pair.metrics) {
      const auto gain = one.gain();
      const auto interval = one.gain_interval();
      if (!gain || !interval) continue;
      rows.push_back(
          {arms.arms[pair.second].name + " over " + arms.arms[pair.first].name + ", " + name_of(one.metric),
           *gain, interval->low, interval->high});
    }
  }
  return estimates("Gains between arms", rows, around_zero(rows), {0.0});
}

}  // namespace

std::string charts_of(const ReportInput& input) {
  std::string charts = status_bar(input.aggregates.all);
  if (input.stability != nullptr) charts += stability_chart(*input.stability);
  if (input.gate.statistics) charts += statistics_chart(*input.gate.statistics);
  if (input.arms != nullptr) charts += arms_chart(*input.arms);
  return charts;
}

}  // namespace sluice
