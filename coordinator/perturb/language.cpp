#include "coordinator/perturb/language.hpp"

#include "common/text/text.hpp"

#include <algorithm>
#include <array>

namespace sluice {

namespace {

struct LanguageName {
  std::string_view name;
  Language language;
};

constexpr std::array names{
    LanguageName{"python", Language::python},
    LanguageName{"py", Language::python},
    LanguageName{"python3", Language::python},
    LanguageName{"javascript", Language::javascript},
    LanguageName{"js", Language::javascript},
    LanguageName{"jsx", Language::javascript},
    LanguageName{"mjs", Language::javascript},
    LanguageName{"cjs", Language::javascript},
    LanguageName{"node", Language::javascript},
    LanguageName{"typescript", Language::typescript},
    LanguageName{"ts", Language::typescript},
    LanguageName{"tsx", Language::typescript},
    LanguageName{"rust", Language::rust},
    LanguageName{"rs", Language::rust},
    LanguageName{"go", Language::go},
    LanguageName{"golang", Language::go},
    LanguageName{"java", Language::java},
    LanguageName{"c", Language::c},
    LanguageName{"cpp", Language::cpp},
    LanguageName{"c++", Language::cpp},
    LanguageName{"cxx", Language::cpp},
    LanguageName{"cc", Language::cpp},
    LanguageName{"makefile", Language::makefile},
    LanguageName{"make", Language::makefile},
    LanguageName{"toml", Language::toml},
    LanguageName{"json", Language::json},
    LanguageName{"", Language::prose},
    LanguageName{"prose", Language::prose},
    LanguageName{"text", Language::prose},
    LanguageName{"txt", Language::prose},
    LanguageName{"markdown", Language::prose},
    LanguageName{"md", Language::prose},
    LanguageName{"prompt", Language::prose},
};

}  // namespace

std::optional<Language> language_named(std::string_view name) {
  const auto lowered = to_lower(name);
  const auto found = std::ranges::find(names, lowered, &LanguageName::name);
  if (found == names.end()) return std::nullopt;
  return found->language;
}

std::string_view to_string(Language language) {
  switch (language) {
    case Language::python:
      return "Python";
    case Language::javascript:
      return "JavaScript";
    case Language::typescript:
      return "TypeScript";
    case Language::rust:
      return "Rust";
    case Language::go:
      return "Go";
    case Language::java:
      return "Java";
    case Language::c:
      return "C";
    case Language::cpp:
      return "C++";
    case Language::makefile:
      return "Makefile";
    case Language::toml:
      return "TOML";
    case Language::json:
      return "JSON";
    case Language::prose:
      return "prose";
  }
  return "";
}

}  // namespace sluice
