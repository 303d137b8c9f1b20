#pragma once

#include "common/finding.hpp"
#include "coordinator/gate/baseline.hpp"
#include "coordinator/gate/json_source.hpp"
#include "coordinator/gate/json_value.hpp"
#include "coordinator/gate/meta_builder.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

/// Takes the events of a JSON parser and makes a baseline of them (baseline_file.hpp). Every event says
/// whether to go on. After a problem it goes on only to see whether the whole file is something else: of
/// another schema version, or a report.
class BaselineReader {
 public:
  static constexpr std::size_t max_depth = 32;

  BaselineReader(const JsonSource& source, std::string file) : source_(source), file_(std::move(file)) {}

  bool key(std::string_view name);
  bool value(const JsonValue& value);  ///< Of an object or list its beginning.
  bool close();                        ///< The end of the innermost object or list.
  /// The text is no JSON at `token`; `out_of_range` for a number that is too large.
  void broken(std::string_view token, bool out_of_range);

  /// Once there are no more events.
  tl::expected<Baseline, Finding> finish();

 private:
  enum class Field : std::uint8_t {
    none,
    schema_version,
    suite,
    assay_version,
    created_at,
    config_fingerprint,
    entries,
    stability,
    suite_path,
    mode,
    test_id,
    metric,
    score,
    meta,
    scores
  };
  struct Entry {
    std::uint32_t line = 0;
    std::string test_id{};
    std::string metric{};
    double score = 0.0;
    std::string meta{};
    std::vector<double> scores{};
  };

  void problem(std::string message);
  void problem_at(std::uint32_t line, std::string message);
  /// Passes over what opens next, or over the rest of the list of entries.
  void skip_to_depth(std::size_t depth) { skipped_above_ = depth; }
  bool skipping() const { return skipped_above_.has_value(); }

  void note_field(Field field);
  void header_value(const JsonValue& value);
  void schema_version(const JsonValue& value);
  void created_at(const JsonValue& value);
  void entry_value(const JsonValue& value);
  void score(const JsonValue& value);
  void repeat_score(const JsonValue& value);
  void begin_stability(const JsonValue& value);
  void read_stability();
  void text_value(const JsonValue& value, std::string& target);
  void meta_value(const JsonValue& value);
  void finish_entry();
  bool is_mean_of_scores();
  void find_missing(std::string_view where, std::uint32_t line, Field first, Field last);

  std::string place() const;     ///< Like `entries[3].score`.
  std::string in_place() const;  ///< Like " in `entries[3].score`", or nothing.
  std::string expected(const JsonValue& value, std::string_view what) const;

  const JsonSource& source_;
  std::string file_;
  Baseline baseline_;
  std::optional<Finding> problem_;
  bool is_report_ = false;
  bool version_seen_ = false;

  std::size_t depth_ = 0;  ///< Open objects and lists.
  std::optional<std::size_t> skipped_above_;
  bool in_entries_ = false;
  bool in_meta_ = false;  ///< Or in the header's stability.
  bool in_scores_ = false;
  bool root_closed_ = false;
  Field field_ = Field::none;  ///< Of the value that comes next.
  std::string name_;           ///< Ditto, also of an unknown one.
  std::uint32_t seen_ = 0;     ///< Bit set of fields: of the header, and of the entry at hand.
  Entry entry_;
  MetaBuilder meta_;
  std::vector<std::uint32_t> lines_;  ///< Of each entry.
};

}  // namespace sluice
