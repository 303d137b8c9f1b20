#include "coordinator/gate/baseline_file.hpp"

#include "coordinator/gate/baseline_reader.hpp"
#include "coordinator/gate/json_events.hpp"
#include "coordinator/gate/json_source.hpp"
#include "coordinator/output/json_writer.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

tl::unexpected<Finding> unreadable(const std::filesystem::path& file, const std::string& why) {
  return tl::unexpected(Finding{file.string(), 0, "cannot be read: " + why});
}

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

}  // namespace

tl::expected<Baseline, Finding> parse_baseline(std::istream& text, const std::string& file) {
  JsonSource source(text, {});
  BaselineReader reader(source, file);
  JsonEvents<BaselineReader> events(reader);
  std::istream counted(&source);
  nlohmann::json::sax_parse(counted, &events);
  return reader.finish();
}

tl::expected<Baseline, Finding> load_baseline(const std::filesystem::path& file) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  if (status.type() == std::filesystem::file_type::not_found)
    return unreadable(file, "there is no such file");
  if (error) return unreadable(file, error.message());
  if (std::filesystem::is_directory(status)) return unreadable(file, "it is a folder, expected a file");
  // A pipe could keep the run waiting for ever.
  if (!std::filesystem::is_regular_file(status)) return unreadable(file, "it is no regular file");
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return unreadable(file, std::strerror(errno != 0 ? errno : EIO));
  return parse_baseline(stream, file.string());
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
    json.member("score", entry.score);
    if (!entry.scores.empty()) {
      json.key("scores").open('[');
      for (const double score : entry.scores) json.value(score);
      json.close(']');
    }
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
