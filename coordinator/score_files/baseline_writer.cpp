#include "coordinator/output/json_writer.hpp"
#include "coordinator/score_files/baseline_file.hpp"

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace sluice {
namespace {

void write_stability(Json& json, const BaselineStability& stability) {
  json.key("stability").open('{');
  json.member("score", stability.score);
  json.member("cases", stability.cases);
  json.member("answers", stability.answers);
  json.member("repeats", std::uint64_t{stability.repeats});
  json.key("perturbations").open('[');
  for (const std::string& perturbation : stability.perturbations) json.value(perturbation);
  json.close(']');
  json.close('}');
}

/// `true`, or a list where the test makes several checks by the metric.
void write_checks(Json& json, const BaselineEntry& entry) {
  json.key("passed");
  if (entry.scores.empty()) {
    json.value(entry.score > 0.0);
    if (!entry.checks.empty()) json.member("check", digest_text(entry.checks.front()));
    if (!entry.repeats.empty()) json.member("repeats", entry.repeats);
    return;
  }
  json.open('[');
  for (const double passed : entry.scores) json.value(passed > 0.0);
  json.close(']');
  if (entry.checks.empty()) return;
  json.key("check").open('[');
  for (const CheckDigest check : entry.checks) json.value(digest_text(check));
  json.close(']');
  if (entry.repeats.empty()) return;
  json.key("repeats").open('[');
  for (std::size_t n = 0; n < entry.checks.size(); ++n) json.value(entry.repeats_of(n));
  json.close(']');
}

/// Compares what is written with what a file has.
class ComparedFile final : public Sink {
 public:
  explicit ComparedFile(const std::filesystem::path& file) : file_(file, std::ios::binary) {}

  void write(std::string_view bytes) override {
    if (!is_same_) return;
    read_.resize(bytes.size());
    file_.read(read_.data(), static_cast<std::streamsize>(read_.size()));
    is_same_ = file_.good() && read_ == bytes;
  }
  /// And the file has no more.
  bool is_same() { return is_same_ && file_.peek() == std::ifstream::traits_type::eof(); }

 private:
  std::ifstream file_;
  std::string read_;
  bool is_same_ = true;
};

/// In its head, where write_baseline puts it: a quote within a text has a backslash before it.
std::optional<std::string> date_in(const std::filesystem::path& file) {
  constexpr std::size_t longest_head = 64u << 10;
  constexpr std::string_view key = "\n  \"created_at\": \"";
  std::ifstream text(file, std::ios::binary);
  std::string head(longest_head, '\0');
  text.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(text.gcount()));
  const auto found = head.find(key);
  if (found == std::string::npos) return std::nullopt;
  const auto begin = found + key.size();
  const auto end = head.find('"', begin);
  return end == std::string::npos ? std::nullopt : std::optional(head.substr(begin, end - begin));
}

}  // namespace

void keep_date_if_unchanged(Baseline& baseline, const std::filesystem::path& file) {
  std::error_code none;
  auto date = std::filesystem::is_regular_file(file, none) ? date_in(file) : std::nullopt;
  if (!date) return;
  std::string now = std::exchange(baseline.header.created_at, std::move(*date));
  ComparedFile compared(file);
  write_baseline(baseline, compared);
  if (!compared.is_same()) baseline.header.created_at = std::move(now);
}

void write_baseline(const Baseline& baseline, Sink& sink) {
  BufferedWriter writer(sink);
  Json json(writer.text());
  const auto member = [&json](std::string_view name, const auto& value) {
    json.line(1);
    json.member(name, value);
  };
  json.open('{');
  member("schema_version", baseline_schema_version);
  member("suite", baseline.header.suite);
  if (!baseline.header.suite_path.empty()) member("suite_path", baseline.header.suite_path);
  member("assay_version", baseline.header.assay_version);
  member("created_at", baseline.header.created_at);
  member("config_fingerprint", baseline.header.config_fingerprint);
  if (!baseline.header.fingerprint_parts.empty()) {
    json.line(1);
    json.texts("fingerprint_parts", baseline.header.fingerprint_parts);
  }
  if (!baseline.header.mode.empty()) member("mode", baseline.header.mode);
  if (baseline.stability) {
    json.line(1);
    write_stability(json, *baseline.stability);
  }
  json.line(1);
  json.key("entries").open('[');
  for (std::size_t i = 0; i < baseline.size(); ++i) {
    const BaselineEntry entry = baseline.entry(i);
    json.line(2);
    json.open('{');
    json.member("test_id", entry.test_id);
    json.member("metric", entry.metric);
    if (entry.kind == PinKind::checks) {
      write_checks(json, entry);
    } else {
      json.member("score", entry.score);
    }
    if (entry.kind == PinKind::score && !entry.scores.empty()) {
      json.key("scores").open('[');
      for (const double score : entry.scores) json.value(score);
      json.close(']');
    }
    if (entry.asks != 0) json.member("asks", digest_text(entry.asks));
    if (!entry.meta.empty()) {
      json.key("meta");
      json.text() += entry.meta;
    }
    json.close('}');
    writer.passed();
  }
  if (baseline.size() > 0) json.text() += "\n  ";
  json.close(']');
  json.text() += '\n';
  json.close('}');
  json.text() += '\n';
}

}  // namespace sluice
