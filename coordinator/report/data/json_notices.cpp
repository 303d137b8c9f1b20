#include "coordinator/report/data/json_notices.hpp"

#include "coordinator/report/wording/wording.hpp"

#include <string>

namespace sluice {

void write_json_notices(Json& json, const std::vector<GateNotice>& notices, std::size_t depth) {
  json.line(depth);
  json.key("notices").open('[');
  for (const GateNotice& notice : notices) {
    json.line(depth + 1);
    json.open('{');
    json.member("severity", wording::severity_word(notice.severity));
    json.member("code", notice.code);
    json.member("message", notice.message);
    json.close('}');
  }
  if (!notices.empty()) json.text() += '\n' + std::string(2 * depth, ' ');
  json.close(']');
}

}  // namespace sluice
