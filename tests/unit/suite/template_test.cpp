#include "common/text/template.hpp"

#include "common/defaults.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace sluice {
namespace {

const Variables values{
    {"a", "1"}, {"b.c-d", "two"}, {"braces", "{{a}} {% x %}"}, {"empty", ""}, {"9", "nine"}};

/// What a template comes to: its text, or its problems, a line each.
std::string rendered(const std::string& text, const Variables& given = values) {
  const auto problems = [](const std::vector<TemplateProblem>& all) {
    std::string lines;
    for (const TemplateProblem& one : all) lines += std::to_string(one.line) + " " + one.message + "\n";
    return lines;
  };
  const auto parsed = Template::parse(text);
  if (!parsed) return problems(parsed.error());
  std::size_t room = defaults::max_rendered_bytes;
  const auto result = parsed->render(given, room);
  return result ? *result : problems(result.error());
}

TEST(Template, PutsVariablesIntoTheText) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"", ""},
      {"plain", "plain"},
      {"{{a}}", "1"},
      {"x{{ a }}y", "x1y"},
      {"{{\ta\n}}", "1"},
      {"{{a}}{{a}}", "11"},
      {"{{b.c-d}}", "two"},
      {"{{9}}", "nine"},
      {"[{{empty}}]", "[]"},
      // A value is no template.
      {"{{braces}}", "{{a}} {% x %}"},
  };
  for (const auto& [text, wanted] : rows) EXPECT_EQ(rendered(text), wanted) << text;
}

TEST(Template, LeavesSingleBracesAndJsonAlone) {
  for (const char* text : {"{", "}", "{}", "}}", "{ {a} }", R"({"a": {"b": 1}})", "{%", "%}", "{#",
                           "100 {% of", "$${x}", "{", "a{"}) {
    EXPECT_EQ(rendered(text), text);
  }
  EXPECT_EQ(rendered(R"({"x": {"y": "{{a}}"}})"), R"({"x": {"y": "1"}})");
  EXPECT_EQ(rendered(R"({"x": {{a}}})"), R"({"x": 1})");
}

TEST(Template, HoldsBracesOfItsOwnAsALiteral) {
  EXPECT_EQ(rendered("{{ '{{' }}name}}"), "{{name}}");
  EXPECT_EQ(rendered(R"({{"{{name}}"}} is {{a}})"), "{{name}} is 1");
  EXPECT_EQ(rendered("{{ '{%' }} if {{ '%}' }}"), "{% if %}");
  EXPECT_EQ(rendered("{{ '}}' }}{{ '' }}{{ \"it's\" }}"), "}}it's");
  EXPECT_EQ(rendered("a\n{{ 'x\\n' }}"),
            "2 holds \"{{ 'x\\n' }}\" with a backslash, which has no meaning there: take it out\n");
}

TEST(Template, NamesAnUnknownVariableAndTheNearestOne) {
  EXPECT_EQ(rendered("x\n{{nmae}} {{nmae}}", {{"name", "n"}}),
            "2 uses {{nmae}}, which the test's \"vars\" do not have; did you mean \"name\"?\n");
  EXPECT_EQ(rendered("{{x}}", {{"city", ""}, {"land", ""}}),
            "1 uses {{x}}, which the test's \"vars\" do not have, only \"city\" and \"land\"\n");
  EXPECT_EQ(rendered("{{a.b}}", {{"a b", "n"}}), "1 uses {{a.b}}, which the test's \"vars\" do not have\n")
      << "what can be no name is no suggestion";
  EXPECT_EQ(rendered("{{x}}", {{"a b", ""}, {"land", ""}}),
            "1 uses {{x}}, which the test's \"vars\" do not have, only \"land\"\n");
  EXPECT_EQ(rendered("{{x}}{{y}}", {}),
            "1 uses {{x}}, but the test has no variables\n1 uses {{y}}, but the test has no variables\n");
}

TEST(Template, RefusesWhatIsNotClosed) {
  const std::string ways =
      " without the \"}}\" that closes it; write {{ '{{' }} where the braces themselves are meant\n";
  EXPECT_EQ(rendered("a {{ b\nc"), "1 holds \"{{ b\"" + ways);
  EXPECT_EQ(rendered("{{"), "1 holds \"{{\"" + ways);
  EXPECT_EQ(rendered("{{a}"), "1 holds \"{{a}\"" + ways);
  EXPECT_EQ(rendered("{{a {{a}}"), "1 holds \"{{a {{a}}\"" + ways);
  EXPECT_EQ(rendered("{{ 'a }}"), "1 holds \"{{ 'a }}\"" + ways);
  EXPECT_EQ(rendered("{{ 'a'"), "1 holds \"{{ 'a'\"" + ways);
  EXPECT_EQ(rendered("{{ 'a' ~ b }}"), "1 holds \"{{ 'a' ~ b }}\"" + ways);
}

TEST(Template, RefusesOtherLanguages) {
  const std::string braces =
      ": {{name}} is all that is rendered; write {{ '{{' }} where the braces themselves are meant\n";
  EXPECT_EQ(rendered("{{ a | upper }}"),
            "1 holds \"{{ a | upper }}\", which has a filter, of which there are none" + braces);
  EXPECT_EQ(rendered("{{ a + 1 }}"), "1 holds \"{{ a + 1 }}\", which is no variable's name" + braces);
  EXPECT_EQ(rendered("{{- a -}}"), "1 holds \"{{- a -}}\", which is no variable's name" + braces);
  EXPECT_EQ(rendered("{{{a}}}"), "1 holds \"{{{a}}\", which is no variable's name" + braces);
  EXPECT_EQ(rendered("{{ }}"), "1 holds \"{{ }}\", which names no variable" + braces);
  const auto signs = [](const std::string& open) {
    return ", of which there are none: {{name}} is all that is rendered; write {{ '" + open +
           "' }} where the signs themselves are meant\n";
  };
  EXPECT_EQ(rendered("{% if a %}x{% endif %}"), "1 holds \"{% if a %}\", a block" + signs("{%") +
                                                    "1 holds \"{% endif %}\", a block" + signs("{%"));
  EXPECT_EQ(rendered("a\n\n{# why #}"), "3 holds \"{# why #}\", a comment" + signs("{#"));
}

// Each was looked for among all before it: 240,000 took 42 s.
TEST(Template, NamesManyVariablesInTheOrderOfTheText) {
  std::string text = "{{z}}";
  constexpr int many = 300'000;
  for (int i = 0; i < many; ++i) text += "{{a" + std::to_string(i) + "}}";
  const auto parsed = Template::parse(text + "{{z}}");
  ASSERT_TRUE(parsed);
  const auto names = parsed->variables();
  ASSERT_EQ(names.size(), std::size_t{many} + 1);
  EXPECT_EQ(names.front(), "z");
  EXPECT_EQ(names.back(), "a" + std::to_string(many - 1));
}

TEST(Template, NamesOnlyItsFirstProblems) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "{{ x | y }}\n{{ unknown" + std::to_string(i) + " }}";
  const auto parsed = Template::parse(text);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().size(), defaults::max_template_problems);
}

TEST(Template, IsNoLongerThanASuiteCouldWriteIt) {
  const Variables large{{"a", std::string(1 << 20, 'x')}};
  std::string text;
  for (int i = 0; i < 16; ++i) text += "{{a}}";
  EXPECT_EQ(rendered(text, large).size(), defaults::max_rendered_bytes);
  EXPECT_EQ(rendered(text + "\n!", large), "1 makes the texts of the test longer than 16777216 bytes\n");
}

TEST(Template, FindsWhatLooksLikeAVariable) {
  EXPECT_EQ(first_variable("Capital of {{ country }} and {{x}}"), "country");
  EXPECT_EQ(first_variable("{{{x}}"), "x");
  EXPECT_EQ(first_variable("{{ x | y }} {{z}}"), "z");
  EXPECT_EQ(variables_in("{{a}}{{ b }}{{ c | d }}}}{{{a}}"), (std::vector<std::string_view>{"a", "b", "a"}));
  EXPECT_TRUE(variables_in("{a} {{").empty());
  for (const char* text : {"", "{{", "{{}}", "{x}", "{{ x", "{{ '{{' }}", "{{.x}}", "a }} b"}) {
    EXPECT_EQ(first_variable(text), "") << text;
  }
}

TEST(Template, RendersAnyTextThatIsALiteral) {
  EXPECT_TRUE(rc::check([](const std::vector<std::pair<bool, std::string>>& pieces) {
    std::string text;
    std::string wanted;
    Variables given;
    for (const auto& [is_variable, any] : pieces) {
      const std::string name = "v" + std::to_string(given.size());
      if (is_variable) {
        given[name] = any;
        text += "{{ " + name + " }}";
        wanted += any;
        continue;
      }
      std::string literal;
      for (const char c : any) {
        if (c != '\'' && c != '\\') literal += c;
      }
      text += "{{'" + literal + "'}}";
      wanted += literal;
    }
    RC_ASSERT(rendered(text, given) == wanted);
  }));
}

TEST(Template, AnyBytesAreRenderedOrRefused) {
  EXPECT_TRUE(rc::check([](const std::vector<std::uint8_t>& choices) {
    static constexpr std::string_view signs = "{}{}%#'\" a|\n\\";
    std::string text;
    for (const std::uint8_t choice : choices) text += signs[choice % signs.size()];
    const auto parsed = Template::parse(text);
    if (!parsed) {
      RC_ASSERT(!parsed.error().empty());
      return;
    }
    // Nothing that looks like a variable is left over.
    std::size_t room = defaults::max_rendered_bytes;
    const auto result = parsed->render({{"a", "1"}}, room);
    if (result && text.find('\'') == std::string::npos && text.find('"') == std::string::npos) {
      RC_ASSERT(first_variable(*result).empty());
    }
  }));
}

}  // namespace
}  // namespace sluice
