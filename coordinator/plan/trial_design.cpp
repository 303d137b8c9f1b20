#include "coordinator/plan/trial_design.hpp"

namespace sluice {
namespace {

/// `py` of `src/app.py`, `Makefile` of `src/Makefile`.
std::string ending_of(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  const auto dot = path.rfind('.');
  if (dot != std::string_view::npos && dot > 0) path.remove_prefix(dot + 1);
  return std::string(path);
}

}  // namespace

PerturbedPart perturbed_part(const Case& test_case) {
  if (test_case.kind == CaseKind::text && !test_case.context.empty()) return {&Case::context, {}};
  if (test_case.kind == CaseKind::claims && !test_case.language.empty()) {
    return {&Case::content, test_case.language};
  }
  return {&Case::content, ending_of(test_case.content_file)};
}

}  // namespace sluice
