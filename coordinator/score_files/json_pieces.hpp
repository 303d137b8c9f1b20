#pragma once

#include "common/documents/finding.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/score_files/json_source.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <istream>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace sluice {

/// A JSON value and the line that it stands in.
struct JsonNode {
  enum class Kind : std::uint8_t { null, boolean, number, text, object, list };
  Kind kind = Kind::null;
  bool boolean = false;
  std::uint32_t line = 0;
  double number = 0.0;
  std::optional<std::uint64_t> whole{};    ///< A whole number from 0.
  std::optional<std::int64_t> negative{};  ///< A whole number below 0.
  std::string text{};
  std::vector<std::pair<std::string, JsonNode>> members{};  ///< Of a list without names.

  bool opens() const { return kind == Kind::object || kind == Kind::list; }
  const JsonNode* find(std::string_view name) const;
};

/// A value as a reader meets it on its way down; perhaps there is none. Those above it must outlive it.
class JsonAt {
 public:
  /// The file's object.
  explicit JsonAt(const JsonNode& root) : node_(&root) {}

  JsonAt operator[](std::string_view name) const;
  /// An element of a list, which there must be.
  JsonAt operator[](std::size_t index) const;
  /// An element of the list of this name in the file's object, whose elements are read one by one.
  static JsonAt element(const JsonAt& root, std::string_view list, std::size_t index, const JsonNode& node);

  explicit operator bool() const { return node_ != nullptr; }
  const JsonNode& operator*() const { return *node_; }
  const JsonNode* operator->() const { return node_; }
  bool is(JsonNode::Kind kind) const { return node_ != nullptr && node_->kind == kind; }

  std::string place() const;  ///< `entries[3].score`; empty for the file's object.
  const JsonAt* above() const { return above_; }
  std::string_view name() const { return name_; }

 private:
  JsonAt(const JsonNode* node, const JsonAt* above, std::string_view name, std::optional<std::size_t> index)
      : node_(node), above_(above), name_(name), index_(index) {}

  const JsonNode* node_;
  const JsonAt* above_ = nullptr;
  std::string_view name_;
  std::optional<std::size_t> index_;
};

/// Reads a file that is one JSON object with one long list in it, and hands on the elements of that list one
/// by one, so that memory holds one of them and the few members that are wanted besides. Problems are
/// findings with line and place; the first one in the file counts.
class JsonPieces {
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
      : source_(text, shape.limits), file_(std::move(file)), shape_(shape) {}
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
  const std::string& file() const { return file_; }
  const std::optional<Finding>& problem() const { return problem_; }

  // Each is false. The problem that stands first in the file stays.
  bool problem(std::uint32_t line, std::string message);
  bool expected(const JsonAt& value, std::string_view what);
  bool missing(const JsonAt& object, std::string_view name, std::uint32_t line);

  // Each is false, with a problem, where the value is another or is not there.
  bool text(const JsonAt& value, std::string& target);  ///< Not empty.
  bool time(const JsonAt& value, std::string& target);  ///< RFC 3339.
  bool truth(const JsonAt& value, bool& target);
  bool count(const JsonAt& value, std::uint64_t& target);
  bool number(const JsonAt& value, double& target);  ///< 0..1
  bool list(const JsonAt& value);
  bool object(const JsonAt& value);
  bool texts(const JsonAt& object, std::map<std::string, std::string, std::less<>>& target);  ///< By name.

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
  std::string file_;
  const Shape& shape_;
  std::optional<Finding> problem_;
  JsonNode root_{.kind = JsonNode::Kind::object};
  JsonNode piece_;
  std::vector<Open> open_;
  std::size_t values_ = 0;
  std::size_t taken_ = 0;
  bool has_list_ = false;
  bool root_closed_ = false;
  bool broken_ = false;
};

/// "a text", "a list", ...: for messages.
std::string_view to_string(JsonNode::Kind kind);

}  // namespace sluice
