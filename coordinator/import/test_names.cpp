#include "coordinator/import/test_names.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "coordinator/import/import_source.hpp"
#include "coordinator/suite/prompts/arms.hpp"

namespace sluice {

std::string filled_name(const std::string& description, ValueRenderer renderer) {
  const auto name = renderer.rendered("description", description);
  return name && renderer.missing().empty() ? excerpt(*name, defaults::quoted_bytes) : description;
}

std::string TestIds::next(const std::string& name) {
  constexpr std::size_t longest = 40;
  ++number_;
  std::string id = to_lower(id_of(name));
  if (id.empty()) id = "test-" + std::to_string(number_);
  if (id.size() > longest) id = arm_name_of(id.substr(0, longest));
  const std::string wanted = id;
  for (std::size_t& same = same_[wanted]; !ids_.insert(id).second;)
    id = wanted + "-" + std::to_string(++same + 1);
  return id;
}

}  // namespace sluice
