#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/gate/billionths.hpp"
#include "coordinator/gate/quoted.hpp"
#include "coordinator/gate/repeated_assessment.hpp"
#include "coordinator/score_files/baseline_file.hpp"
#include "coordinator/score_files/json_pieces.hpp"
#include "coordinator/suite/score_id.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using Member = JsonPieces::Member;
constexpr std::array baseline_members{Member{"", "schema_version"},
                                      Member{"", "suite"},
                                      Member{"", "suite_path"},
                                      Member{"", "mode"},
                                      Member{"", "assay_version"},
                                      Member{"", "created_at"},
                                      Member{"", "config_fingerprint"},
                                      Member{"", "fingerprint_parts"},
                                      Member{"fingerprint_parts", ""},
                                      Member{"", "stability"},
                                      Member{"stability", "score"},
                                      Member{"stability", "cases"},
                                      Member{"stability", "answers"},
                                      Member{"stability", "repeats"},
                                      Member{"stability", "perturbations"},
                                      Member{"entries", "test_id"},
                                      Member{"entries", "metric"},
                                      Member{"entries", "score"},
                                      Member{"entries", "passed"},
                                      Member{"entries", "check"},
                                      Member{"entries", "asks"},
                                      Member{"entries", "repeats"},
                                      Member{"entries", "meta"},
                                      Member{"entries", "scores"}};

constexpr JsonPieces::Shape baseline_shape{
    .kind = "baseline",
    .written_by = "--export-baseline",
    .how_to_write = "write it anew with `sluice run SUITE --export-baseline FILE`",
    .if_not_json =
        "so neither a baseline nor a JSON report: `sluice run SUITE --export-baseline FILE` writes "
        "the one, `sluice run SUITE --format json --output FILE` the other",
    .list = "entries",
    .wanted = baseline_members,
    .limits = {},
    .max_depth = 32,
    .max_values = defaults::max_baseline_values};

/// As a byte for each value beside those of keys and texts.
std::size_t size_of(const JsonNode& node) {
  std::size_t bytes = 1 + node.text.size();
  for (const auto& [name, member] : node.members) bytes += name.size() + size_of(member);
  return bytes;
}

/// The same text in canonical form, wherever it stands. Numbers are compared by their bits: -0.0 is another
/// text than 0.0.
bool is_same(const JsonNode& a, const JsonNode& b) {
  const auto bits = [](double number) { return std::bit_cast<std::uint64_t>(number); };
  return a.kind == b.kind && a.boolean == b.boolean && bits(a.number) == bits(b.number) &&
         a.whole == b.whole && a.negative == b.negative && a.text == b.text &&
         std::ranges::equal(a.members, b.members, [](const auto& one, const auto& other) {
           return one.first == other.first && is_same(one.second, other.second);
         });
}

nlohmann::json document_of(const JsonNode& node) {
  nlohmann::json document;
  switch (node.kind) {
    case JsonNode::Kind::null:
      return nullptr;
    case JsonNode::Kind::boolean:
      return node.boolean;
    case JsonNode::Kind::number:
      if (node.whole) return *node.whole;
      return node.negative ? nlohmann::json(*node.negative) : nlohmann::json(node.number);
    case JsonNode::Kind::text:
      return node.text;
    case JsonNode::Kind::object:
      document = nlohmann::json::object();
      for (const auto& [name, member] : node.members) document[name] = document_of(member);
      return document;
    case JsonNode::Kind::list:
      document = nlohmann::json::array();
      for (const auto& [name, member] : node.members) document.push_back(document_of(member));
      return document;
  }
  return nullptr;
}

/// Keys sorted by bytes, no white space, numbers in a short form that reads back as the same.
std::string canonical(const JsonNode& node) {
  // Foreign bytes may stand in it, which dump would otherwise answer with an exception.
  return document_of(node).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class BaselineReader : public JsonPieces {
 public:
  BaselineReader(std::istream& text, const std::string& file) : JsonPieces(text, file, baseline_shape) {}

  tl::expected<Baseline, Finding> finish() {
    if (is_report_) {
      return tl::unexpected(Finding{file(), line(),
                                    "is a report: `sluice compare` reads reports, --baseline takes what "
                                    "--export-baseline wrote"});
    }
    if (const auto other = of_another_version()) return tl::unexpected(*other);
    if (is_whole() || !problem()) read_header();
    if (problem()) return tl::unexpected(*problem());
    const std::optional<Baseline::Duplicate> twice = baseline_.seal();
    if (!twice) return std::move(baseline_);
    return tl::unexpected(Finding{file(), lines_[twice->second],
                                  "`entries[" + std::to_string(twice->second) +
                                      "]` has the test_id and metric of `entries[" +
                                      std::to_string(twice->first) + "]` (line " +
                                      std::to_string(lines_[twice->first]) + "): keep one of the two"});
  }

 private:
  bool begin(std::string_view name) override {
    is_report_ = name == "fixture_results";
    return !is_report_;
  }

  void take(const JsonAt& entry) override {
    if (!object(entry)) return;
    std::string test_id;
    std::string metric;
    double score = 0.0;
    scores_.clear();
    checks_.clear();
    repeats_.clear();
    if (!text(entry["test_id"], test_id) || !text(entry["metric"], metric)) return;
    const bool is_check = static_cast<bool>(entry["passed"]);
    ScoreDigest asks = 0;
    const bool is_read = is_check ? read_checks(entry, metric, score)
                                  : number(entry["score"], score) && read_scores(entry["scores"], score) &&
                                        (!entry["asks"] || digest(entry["asks"], asks));
    if (!is_read || !read_meta(entry["meta"])) return;
    lines_.push_back(entry->line);
    baseline_.add({test_id, metric, score, entry["meta"] ? std::string_view(meta_) : "", scores_,
                   is_check ? PinKind::checks : PinKind::score, checks_, repeats_, asks});
  }

  bool read_meta(const JsonAt& at) {
    if (!at) return true;
    if (!object(at)) return false;
    if (is_same(*at, meta_node_)) return true;
    if (size_of(*at) > defaults::max_meta_bytes) {
      return problem(at->line, "`" + at.place() + "` holds more than " +
                                   std::to_string(defaults::max_meta_bytes / 1024) + " KiB");
    }
    meta_node_ = *at;
    meta_ = canonical(*at);
    return true;
  }

  /// The gate takes `score` and its tests take `scores`: two different truths would be two different
  /// verdicts.
  bool read_scores(const JsonAt& at, double given) {
    if (!at) return true;
    constexpr std::string_view what = "a list of numbers from 0 to 1";
    if (!at.is(JsonNode::Kind::list)) return expected(at, what);
    if (at->members.size() > defaults::max_read_repeats) {
      return problem(at->line, "`" + at.place() + "` holds more than " +
                                   std::to_string(defaults::max_read_repeats) + " scores");
    }
    MeanScore scores;
    for (std::size_t i = 0; i < at->members.size(); ++i) {
      if (!number(at[i], scores_.emplace_back())) return false;
      scores.add(scores_.back());
    }
    const auto mean = scores.mean();
    if (!mean || std::abs(billionths(*mean) - billionths(given)) <= 1) return true;
    return problem((*at.above())->line, "`" + at.above()->place() + ".score` is " + shortest(given) +
                                            ", but the mean of its `scores` is " + shortest(*mean));
  }

  /// `passed`: one truth, or a list of them where a test makes several checks by one metric.
  bool read_checks(const JsonAt& entry, const std::string& metric, double& all_passed) {
    const auto at = entry["passed"];
    for (const char* name : {"score", "scores"}) {
      if (entry[name]) {
        return problem(entry->line,
                       "`" + entry.place() + "` has both `passed` and `" + name + "`: keep one of the two");
      }
    }
    // One that this sluice does not know is a newer one's: an entry that nothing answers.
    if (const MetricInfo* known = parts_of_score(metric).metric;
        known != nullptr && known->kind == MetricKind::scored) {
      return problem(at->line, "`" + at.place() + "` is of " + backquoted(metric) +
                                   ", which has a score: expected `score`");
    }
    constexpr std::string_view what = "true, false, or a list of them";
    if (at.is(JsonNode::Kind::boolean)) {
      all_passed = at->boolean ? 1.0 : 0.0;
      if (!entry["check"]) return true;
      return digest(entry["check"], checks_.emplace_back()) &&
             (!entry["repeats"] || read_repeats(entry["repeats"], *at));
    }
    if (!at.is(JsonNode::Kind::list) || at->members.empty()) return expected(at, what);
    if (at->members.size() > defaults::max_read_repeats) {
      return problem(at->line, "`" + at.place() + "` holds more than " +
                                   std::to_string(defaults::max_read_repeats) + " checks");
    }
    for (std::size_t i = 0; i < at->members.size(); ++i) {
      if (!at[i].is(JsonNode::Kind::boolean)) return expected(at[i], "true or false");
      scores_.push_back(at[i]->boolean ? 1.0 : 0.0);
    }
    all_passed = std::ranges::min(scores_);
    const auto checks = entry["check"];
    if (!checks) return true;
    if (!checks.is(JsonNode::Kind::list) || checks->members.size() != scores_.size()) {
      return expected(checks, "a list as long as `passed`");
    }
    for (std::size_t i = 0; i < scores_.size(); ++i) {
      if (!digest(checks[i], checks_.emplace_back())) return false;
    }
    const auto repeats = entry["repeats"];
    if (!repeats) return true;
    if (!repeats.is(JsonNode::Kind::list) || repeats->members.size() != scores_.size()) {
      return expected(repeats, "a list as long as `passed`");
    }
    for (std::size_t i = 0; i < scores_.size(); ++i) {
      if (!read_repeats(repeats[i], *at[i])) return false;
    }
    return true;
  }

  /// Of one check. The gate takes `passed` and `repeats`: two different truths would be two different
  /// verdicts.
  bool read_repeats(const JsonAt& at, const JsonNode& passed) {
    const bool is_text = at.is(JsonNode::Kind::text) && !at->text.empty() &&
                         at->text.size() <= defaults::max_read_repeats &&
                         at->text.find_first_not_of("01") == std::string::npos;
    if (!is_text) return expected(at, "a digit for each repeat, 1 or 0");
    if (passed_mostly(at->text) != passed.boolean) {
      return problem(at->line, "`" + at.place() + "` is " + backquoted(at->text) + ", but `passed` says " +
                                   (passed.boolean ? "true" : "false"));
    }
    // The checks of a test were asked as often as one another.
    if (!repeats_.empty() && at->text.size() != asked_) {
      return expected(at, "as many digits as the one before it");
    }
    asked_ = at->text.size();
    repeats_ += at->text;
    return true;
  }

  std::optional<Finding> of_another_version() const {
    const JsonNode* const version = root()->find("schema_version");
    if (version == nullptr || !version->whole ||
        (*version->whole >= oldest_baseline_schema_version && *version->whole <= baseline_schema_version)) {
      return std::nullopt;
    }
    const bool newer = *version->whole > baseline_schema_version;
    // Says more than whatever else is wrong with a file that this program does not know.
    return Finding{file(), version->line,
                   "has schema_version " + std::to_string(*version->whole) + ", and this sluice reads " +
                       std::to_string(oldest_baseline_schema_version) + " to " +
                       std::to_string(baseline_schema_version) +
                       ": regenerate the baseline with `sluice run SUITE --export-baseline FILE`" +
                       (newer ? ", or use a newer sluice" : "")};
  }

  void read_header() {
    const JsonAt file = root();
    BaselineHeader& header = baseline_.header;
    const auto version = file["schema_version"];
    if (version && !version->whole) expected(version, "1 or 2, written without a point or an exponent");
    for (const auto& [name, target] :
         {std::pair("suite", &header.suite), std::pair("suite_path", &header.suite_path),
          std::pair("mode", &header.mode), std::pair("assay_version", &header.assay_version),
          std::pair("config_fingerprint", &header.config_fingerprint)}) {
      if (file[name]) text(file[name], *target);
    }
    if (file["created_at"]) time(file["created_at"], header.created_at);
    if (file["fingerprint_parts"]) texts(file["fingerprint_parts"], header.fingerprint_parts);
    if (file["entries"]) expected(file["entries"], "a list");  // A list is handed on, not kept.
    if (file["stability"]) read_stability(file["stability"]);
    for (const char* name :
         {"schema_version", "suite", "assay_version", "created_at", "config_fingerprint"}) {
      if (!problem() && !file[name]) missing(file, name, 0);
    }
    if (!problem() && !has_list()) missing(file, "entries", 0);
  }

  bool read_stability(const JsonAt& at) {
    if (!object(at)) return false;
    const auto is_no = [&](const char* words) {
      return problem(at->line, std::string("`stability` has ") + words);
    };
    BaselineStability stability;
    const auto score = at["score"];
    if (!score.is(JsonNode::Kind::number) || score->number < 0.0 || score->number > 1.0) {
      return is_no("no `score` from 0 to 1");
    }
    stability.score = score->number + 0.0;  // 0 for -0.
    const auto perturbations = at["perturbations"];
    if (!perturbations.is(JsonNode::Kind::list)) return is_no("no list of texts `perturbations`");
    for (const auto& [none, perturbation] : perturbations->members) {
      if (perturbation.kind != JsonNode::Kind::text) return is_no("no list of texts `perturbations`");
      stability.perturbations.push_back(perturbation.text);
    }
    const auto read_count = [&](const char* name, std::uint64_t least, std::uint64_t& target) {
      const auto count = at[name];
      if (count) target = count->whole.value_or(0);
      if (!count || (count->whole && target >= least)) return true;
      return is_no(
          ("`" + std::string(name) + "` that is no whole number from " + std::to_string(least)).c_str());
    };
    std::uint64_t repeats = 1;
    if (!read_count("cases", 0, stability.cases) || !read_count("answers", 0, stability.answers) ||
        !read_count("repeats", 1, repeats)) {
      return false;
    }
    stability.repeats = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(repeats, std::numeric_limits<std::uint32_t>::max()));
    baseline_.stability = std::move(stability);
    return true;
  }

  Baseline baseline_;
  bool is_report_ = false;
  // The last one that was read: most entries share it, and to make its text takes longer than all else.
  JsonNode meta_node_;
  std::string meta_;
  std::vector<double> scores_;        ///< Of the entry at hand.
  std::vector<CheckDigest> checks_;   ///< Of the entry at hand.
  std::string repeats_;               ///< Of the entry at hand.
  std::size_t asked_ = 0;             ///< How often the checks of `repeats_` were.
  std::vector<std::uint32_t> lines_;  ///< Of each entry.
};

tl::unexpected<Finding> unreadable(const std::filesystem::path& file, const std::string& why) {
  return tl::unexpected(Finding{file.string(), 0, "cannot be read: " + why});
}

}  // namespace

tl::expected<Baseline, Finding> parse_baseline(std::istream& text, const std::string& file) {
  BaselineReader reader(text, file);
  reader.read();
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

}  // namespace sluice
