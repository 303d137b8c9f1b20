#include "coordinator/corpus/trigger_rules.hpp"

#include "config/embedded_config.hpp"

#include <gtest/gtest.h>

namespace sluice::trigger_rules_test {

TriggerRules shipped() {
  auto rules = TriggerRules::parse(embedded::triggers, "triggers.toml");
  EXPECT_TRUE(rules) << (rules ? "" : join_findings(rules.error()));
  return rules ? std::move(*rules) : TriggerRules();
}

std::string language(const TriggerRules& rules, const std::string& path) {
  const LanguageRules* found = rules.language_of(path);
  return found == nullptr ? "" : found->name;
}

/// `import, word` as the rules of the path's language see the text.
std::string seen(const std::string& path, const std::string& text) {
  const TriggerRules rules = shipped();
  const LanguageRules* found = rules.language_of(path);
  if (found == nullptr) return "no language";
  const Triggers triggers = triggers_of(*found, path, text);
  std::string names;
  for (const Trigger one : {Trigger::name, Trigger::import, Trigger::word, Trigger::entropy}) {
    if (triggers.has(one)) names += (names.empty() ? "" : ", ") + std::string(to_string(one));
  }
  return names;
}

TEST(TriggerRules, KnowLanguagesByExtensionAndByName) {
  const TriggerRules rules = shipped();
  EXPECT_EQ(language(rules, "src/a.py"), "python");
  EXPECT_EQ(language(rules, "a.PY"), "python");
  EXPECT_EQ(language(rules, "src/tls.hpp"), "cpp");
  EXPECT_EQ(language(rules, "deploy/Dockerfile"), "dockerfile");
  EXPECT_EQ(language(rules, "a.xyz"), "");
  EXPECT_EQ(language(rules, "src.py/README"), "") << "a folder's name has no extension of the file";
  EXPECT_EQ(language(rules, "web/jquery.min.js"), "") << "excluded by its name";
  EXPECT_EQ(language(rules, "package-lock.json"), "");
}

TEST(TriggerRules, SeeNamesImportsWordsAndRandomText) {
  EXPECT_EQ(seen("app/plain.py", "print(1)\n"), "");
  EXPECT_EQ(seen("app/user_auth.py", "print(1)\n"), "name");
  EXPECT_EQ(seen("auth/plain.py", "print(1)\n"), "") << "folders do not count";
  EXPECT_EQ(seen("a.py", "x = 1\n  import requests as r\n"), "import");
  EXPECT_EQ(seen("a.py", "import requests_mock\n"), "") << "whole words alone";
  EXPECT_EQ(seen("a.py", "say('I import requests')\n"), "") << "only where a line begins so";
  EXPECT_EQ(seen("a.go", "import (\n\t\"crypto/tls\"\n)\n"), "import");
  EXPECT_EQ(seen("a.js", "const t = require('tls');\n"), "import");
  EXPECT_EQ(seen("a.py", "get(url, VERIFY=False)\n"), "word");
  EXPECT_EQ(seen("a.yaml", "value: q8Zr2LmXw0Vb7NcYt4KsJd9PfHgE3aUo\n"), "random text");
  EXPECT_EQ(seen("a.yaml", "value: d41d8cd98f00b204e9800998ecf8427e\n"), "")
      << "hexadecimal digits have 4 bits";
  EXPECT_EQ(seen("a.yaml", "value: com/example/averylongpackage/WithManyDifferentLetters\n"), "");
}

TEST(TriggerRules, MeasureEntropyInBits) {
  EXPECT_DOUBLE_EQ(entropy_of(""), 0.0);
  EXPECT_DOUBLE_EQ(entropy_of("aaaa"), 0.0);
  EXPECT_DOUBLE_EQ(entropy_of("abab"), 1.0);
  EXPECT_DOUBLE_EQ(entropy_of("0123456789abcdef"), 4.0);
}

TEST(TriggerRules, NameWhatIsWrongWithTheFile) {
  const auto findings = [](const std::string& text) {
    const auto rules = TriggerRules::parse(text, "my.toml");
    return rules ? std::string() : join_findings(rules.error());
  };
  EXPECT_NE(findings("version = \"1\"\n").find("language"), std::string::npos);
  EXPECT_NE(findings("version = \"1\"\n[[language]]\nname = \"c\"\n").find("my.toml:2"), std::string::npos);
  EXPECT_NE(findings("version = \"1\"\n[[language]]\nname = \"c\"\nextensions = [\"c\"]\nimports = [\"x\"]\n")
                .find("import_lines"),
            std::string::npos);
  EXPECT_NE(
      findings("version = \"1\"\n[any]\nentropy = 9\n[[language]]\nname = \"c\"\nextensions = [\"c\"]\n")
          .find("entropy"),
      std::string::npos);
  EXPECT_NE(
      findings("version = \"1\"\n[any]\nwords = [\"\"]\n[[language]]\nname = \"c\"\nextensions = [\"c\"]\n")
          .find("empty"),
      std::string::npos);
  EXPECT_NE(findings("version = \"1\"\n[[language]]\nname = \"c\"\nextension = [\"c\"]\n").find("extensions"),
            std::string::npos);
  EXPECT_EQ(findings("version = \"1\"\n[[language]]\nname = \"c\"\nextensions = [\"c\"]\n"), "");
}

// They had no effect, and nobody said so.
TEST(TriggerRules, RefuseExtensionsAndNamesThatNoFileOfTheLanguageHas) {
  const auto findings = [](const std::string& own) {
    const auto rules = TriggerRules::parse(
        "version = \"1\"\n[[language]]\nname = \"c\"\nextensions = [\"h\"]\nfile_names = [\"Makefile\"]\n"
        "[[language]]\nname = \"other\"\n" +
            own + "\n",
        "my.toml");
    return rules ? std::string() : join_findings(rules.error());
  };
  EXPECT_EQ(findings("extensions = [\"hh\"]"), "");
  EXPECT_NE(findings("extensions = [\".hh\"]").find("my.toml:8: \"extensions\""), std::string::npos);
  EXPECT_NE(findings("extensions = [\"H\"]").find("my.toml:8: \"extensions\""), std::string::npos);
  EXPECT_NE(findings("file_names = [\"makefile\"]").find("my.toml:8: \"file_names\""), std::string::npos);
}

}  // namespace sluice::trigger_rules_test
