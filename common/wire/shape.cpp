#include "common/wire/shape.hpp"

#include "common/defaults.hpp"

#include <cstdint>
#include <exception>
#include <string>

namespace sluice::wire {

namespace {

/// Walks the bytes without building anything, so that a length is believed only once its elements were seen.
class ShapeCheck : public msgpack::null_visitor {
 public:
  const char* problem() const { return problem_; }

  bool visit_nil() { return count(); }
  bool visit_boolean(bool) { return count(); }
  bool visit_positive_integer(std::uint64_t) { return count(); }
  bool visit_negative_integer(std::int64_t) { return count(); }
  bool visit_float32(float) { return refuse("a 32-bit float"); }
  bool visit_float64(double) { return count(); }
  bool visit_str(const char*, std::uint32_t) { return count(); }
  bool visit_bin(const char*, std::uint32_t) { return count(); }
  bool visit_ext(const char*, std::uint32_t) { return refuse("an extension type"); }
  bool start_map(std::uint32_t) { return refuse("a map"); }

  bool start_array(std::uint32_t elements) {
    if (elements > defaults::max_items) return refuse("an array of too many elements");
    if (++depth_ > defaults::max_depth) return refuse("too deep a nesting");
    return count();
  }
  bool end_array() {
    --depth_;
    return true;
  }

  void parse_error(std::size_t, std::size_t) { problem_ = "bytes that are not msgpack"; }
  void insufficient_bytes(std::size_t, std::size_t) { problem_ = "an early end"; }

 private:
  bool count() { return ++values_ <= defaults::max_values || refuse("too many values"); }
  bool refuse(const char* what) {
    problem_ = what;
    return false;
  }

  std::uint32_t depth_ = 0;
  std::uint32_t values_ = 0;
  const char* problem_ = nullptr;
};

}  // namespace

Result<msgpack::object_handle> read_value(std::string_view bytes) {
  try {
    ShapeCheck check;
    std::size_t end = 0;
    const bool complete = msgpack::parse(bytes.data(), bytes.size(), end, check);
    if (!complete || check.problem()) {
      const auto* problem = check.problem() ? check.problem() : "an early end";
      return fail(Reason::message_malformed, std::string("it has ") + problem);
    }
    if (end != bytes.size()) {
      return fail(Reason::message_malformed,
                  "it has " + std::to_string(bytes.size() - end) + " bytes too many");
    }
    const auto refer = [](msgpack::type::object_type, std::size_t, void*) { return true; };
    return msgpack::unpack(bytes.data(), bytes.size(), refer);
  } catch (const std::exception& error) {  // The parser's own, or no memory.
    return fail(Reason::message_malformed, std::string("it cannot be unpacked: ") + error.what());
  }
}

}  // namespace sluice::wire
