#include "coordinator/perturb/source.hpp"

#include "coordinator/perturb/cursor.hpp"

#include <utility>

namespace sluice {

namespace {

/// Finds the segment of ever greater positions.
class SegmentWalk {
 public:
  explicit SegmentWalk(const std::vector<Segment>& segments) : segments_(segments) {}

  const Segment& at(std::size_t position) {
    while (index_ + 1 < segments_.size() && segments_[index_].end <= position) ++index_;
    return segments_[index_];
  }

 private:
  const std::vector<Segment>& segments_;
  std::size_t index_ = 0;
};

SourceLine line_at(std::string_view text, std::size_t begin) {
  SourceLine line;
  line.begin = begin;
  const auto feed = text.find('\n', begin);
  line.next = feed == std::string_view::npos ? text.size() : feed + 1;
  line.end = feed == std::string_view::npos ? text.size() : feed;
  if (feed != std::string_view::npos && feed > begin && text[feed - 1] == '\r') --line.end;
  return line;
}

}  // namespace

bool has_shebang(std::string_view text) {
  text = without_byte_order_mark(text);
  return text.starts_with("#!") && !text.starts_with("#![");
}

Source make_source(Language language, std::string_view text, Segmentation segmentation) {
  Source source{language, text, std::move(segmentation.segments), {}, "\n"};
  SegmentWalk walk(source.segments);
  for (std::size_t begin = 0; begin < text.size();) {
    auto line = line_at(text, begin);
    const auto& first = walk.at(begin);
    if (first.begin < begin) line.starts_within = first.kind;
    auto last = line.end;
    while (last > begin && is_blank(text[last - 1])) --last;
    line.blank = last == begin;
    if (!line.blank) {
      line.last = walk.at(last - 1).kind;
      line.continues = text[last - 1] == '\\';
    }
    if (line.has_line_end()) line.ends_within = walk.at(line.next - 1).kind;
    begin = line.next;
    source.lines.push_back(line);
  }
  if (!source.lines.empty() && source.lines.front().next - source.lines.front().end == 2)
    source.line_end = "\r\n";
  return source;
}

}  // namespace sluice
