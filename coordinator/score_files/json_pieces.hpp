#pragma once

#include "coordinator/defaults.hpp"
#include "coordinator/score_files/json_source.hpp"
#include "coordinator/score_files/json_values.hpp"

#include <cstddef>
#include <cstdint>
#include <istream>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace sluice {

/// Reads a file that is one JSON object with one long list in it, and hands on the elements of that list one
/// by one, so that memory holds one of them and the few members that are wanted besides.
class JsonPieces : protected JsonValues {
 public:
  struct Member {
    std::string_view of;  ///< The member of the file's object that it stands in; empty: in the object itself.
    std::string_view name;  ///< Empty: each one of that member.
  };
  struct Shape {
    std::string_view kind;           ///< `baseline`
    std::string_view written_by;     ///< `--export-baseline`
    std::string_view how_to_write;   ///< `write it anew with ...`
    std::string_view if_not_json;    ///< Goes on after `is not JSON` where nothing was read yet.
    std::string_view list;           ///< `entries`
    std::span<const Member> wanted;  ///< Others are passed over, on these two levels.
    JsonSource::Limits limits{};
    std::size_t max_depth = defaults::max_json_depth;
    std::size_t max_values =
        defaults::max_json_values;  ///< Of one element, and of all that is wanted besides.
  };

  JsonPieces(std::istream& text, std::string file, const Shape& shape)
      : JsonValues(std::move(file)), source_(text, shape.limits), shape_(shape) {}
  virtual ~JsonPieces() = default;
  JsonPieces(const JsonPieces&) = delete;
  JsonPieces& operator=(const JsonPieces&) = delete;

  /// Reads to the end, or until there is no use in it.
  void read();

 protected:
  /// A member of the file's object begins. False: read no further.
  virtual bool begin(std::string_view name);
  /// A whole element of the list. Not called once there is a problem.
  virtual void take(const JsonAt& element) = 0;

  /// What was wanted of the file's object, but for the list.
  JsonAt root() const { return JsonAt(root_); }
  bool has_list() const { return has_list_; }
  bool is_whole() const { return root_closed_ && !broken_; }
  std::uint32_t line() const { return source_.line(); }
  std::size_t taken() const { return taken_; }  ///< Elements so far.

 private:
  struct Events;  ///< What nlohmann's parser calls.
  struct Open {
    bool is_list = false;
    bool holds_elements = false;
    JsonNode* node = nullptr;                 ///< Null: passed over.
    std::size_t index = 0;                    ///< Of the next element.
    std::string key{};                        ///< Of the next member.
    bool is_wanted = false;                   ///< The next member.
    std::unordered_set<std::string> names{};  ///< Of all members, once there are many.

    /// Of a member that comes next. REQUIRES: `node`.
    bool has(std::string_view name);
  };

  bool on_key(std::string_view name);
  bool on_value(JsonNode node);
  bool on_close();
  void on_broken(std::string_view token, bool out_of_range);
  void on_whole_value();
  bool is_wanted(std::string_view name) const;
  JsonNode* place_for_node();
  std::string place(std::size_t depth = SIZE_MAX) const;
  std::string in_place(std::size_t depth = SIZE_MAX) const;

  JsonSource source_;
  const Shape& shape_;
  JsonNode root_{.kind = JsonNode::Kind::object};
  JsonNode piece_;
  std::vector<Open> open_;
  std::size_t values_ = 0;
  std::size_t taken_ = 0;
  bool has_list_ = false;
  bool root_closed_ = false;
  bool broken_ = false;
};

}  // namespace sluice
