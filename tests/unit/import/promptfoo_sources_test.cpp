// Prompts, providers and tables as people write them, beside those of the configuration's own tests.
#include "tests/unit/import/promptfoo_fixture.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sluice::promptfoo_sources_test {

const std::string one_test = "tests: [{vars: {q: x}, assert: [{type: contains, value: y}]}]\n";

TEST_F(Promptfoo, TakesTheLabelsOfATableOfPrompts) {
  write("prompts.csv", "prompt,label\n\"Tell me, {{q}}\",Basic Query\n\"Explain, {{q}}\",\n");
  const std::string made = suite("prompts: [{id: file://prompts.csv, label: mine}]\n" + one_test);
  EXPECT_TRUE(has(made, "- id: Basic-Query\n    prompt: \"Tell me, {{q}}\"\n  - id: mine\n")) << made;
}

// The third had the name of the second, and the suite did not load.
TEST_F(Promptfoo, GivesNoProviderTheNameOfAnother) {
  const std::string made = suite(R"yaml(prompts: ['{{q}}']
providers:
  - {id: 'openai:a', label: fast}
  - {id: 'openai:b', label: fast-3}
  - {id: 'openai:c', label: fast}
)yaml" + one_test);
  EXPECT_TRUE(has(made, "- name: fast-4\n    provider: openai\n    model: c\n")) << made;
}

// The quotes of the chat were taken for the end of its text.
TEST_F(Promptfoo, ReadsAChatThatShowsAListWithinAText) {
  const std::string made = suite(R"yaml(prompts:
  - '[{"role": "system", "content": "Of {{l | dump}}"}, {"role": "user", "content": "{{q}}"}]'
  - '[{"role": "system", "content": {{l | dump}}}, {"role": "user", "content": {{ q | dump }}}]'
tests: [{vars: {q: x, l: [1, 2]}, assert: [{type: contains, value: y}]}]
)yaml");
  EXPECT_TRUE(has(made, "    system: \"Of {{l-json}}\"\n    prompt: \"{{q}}\"\n")) << made;
  EXPECT_TRUE(has(made, "    system: \"{{l}}\"\n    prompt: \"{{q}}\"\ntests:")) << made;
  EXPECT_TRUE(has(made, "l-json: \"[1,2]\"\n")) << made;
}

// It was an empty text, with a line among others.
TEST_F(Promptfoo, ImportsNothingWithoutAFileThatATestAsks) {
  const auto errors = [&](const std::string& test) {
    write("promptfooconfig.yaml", "prompts: ['{{q}}']\ntests:\n  - " + test + "\n");
    const auto imported = import_promptfoo(folder_.path() / "promptfooconfig.yaml", {});
    return imported ? std::string() : join_findings(imported.error());
  };
  for (const char* test :
       {"vars: {q: 'file://gone.txt'}", "vars: {q: ['file://gone.txt', b]}", "vars: 'file://gone.yaml'",
        "vars: {q: 'file://gone/*.txt'}", "vars: {q: 'file://{{a}}.txt'}", "file://gone.csv"})
    EXPECT_TRUE(has(errors(test), "promptfooconfig.yaml:3: ")) << test << "\n" << errors(test);
  write("there.txt", "x");
  write("image.png", "\x89PNG");
  write("vars.py", "def make(): return {}");
  for (const char* vars : {"{q: 'file://there.txt'}", "{q: 'file://image.png'}", "'file://vars.py'"})
    EXPECT_EQ(errors("{vars: " + std::string(vars) + ", assert: [{type: contains, value: y}]}"), "") << vars;
}

// It was that line of the configuration.
TEST_F(Promptfoo, NamesTheFileOfAVariableThatIsLeftOut) {
  write("vars.yaml", "q: x\n\na b: y\n");
  const std::string said = notes(
      "prompts: ['{{q}}']\ntests: [{vars: 'file://vars.yaml', assert: [{type: contains, value: y}]}]\n");
  EXPECT_TRUE(has(said, "vars.yaml:3: the variable \"a b\" has a name")) << said;
}

TEST_F(Promptfoo, SaysHowToConvertUtf16) {
  write("tests.csv", std::string("\xff\xfeq\0", 4));
  write("c.yaml", "prompts: ['{{q}}']\ntests: file://tests.csv\n");
  for (const char* name : {"c.yaml", "tests.csv"}) {
    const auto imported = import_promptfoo(folder_.path() / name, {});
    ASSERT_FALSE(imported) << name;
    EXPECT_TRUE(has(join_findings(imported.error()), "iconv -f UTF-16 -t UTF-8")) << name;
  }
}

TEST_F(Promptfoo, CountsWhatTheSuiteLacks) {
  const ImportedSuite imported = import(R"yaml(prompts: ['{{q}}', '{% if q %}x{% endif %}', gone.txt]
providers: ['openai:m', 'bedrock:m']
tests:
  - {vars: {q: [a, b]}, assert: [{type: webhook, value: x}]}
  - {vars: {q: 'file://make.py'}, assert: [{type: contains, value: x}, {type: contains, value: y, weight: 0}]}
  - {vars: {q: '{{ x | lower }}'}, assert: [{type: contains, value: x}]}
  - {vars: {q: c}}
)yaml");
  const auto lost = [&](Loss loss) { return imported.losses[static_cast<std::size_t>(loss)]; };
  EXPECT_EQ(lost(Loss::all_checks), 2u) << notes_of(imported);
  EXPECT_EQ(lost(Loss::test), 1u) << notes_of(imported);
  EXPECT_EQ(lost(Loss::variable), 1u) << notes_of(imported);
  EXPECT_EQ(lost(Loss::prompt), 2u) << notes_of(imported);
  EXPECT_EQ(lost(Loss::provider), 1u) << notes_of(imported);
  EXPECT_EQ(lost(Loss::check), 1u) << notes_of(imported);
  const std::string text = suite_yaml(imported.suite);
  const auto first = text.find("    tags:\n      - unchecked\n");
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_NE(text.find("- unchecked", first + 30), std::string::npos) << text;
}

TEST_F(Promptfoo, NamesThePromptsThatAreNotThere) {
  const std::string said = notes(
      "prompts: ['{{q}}', 'exec:./gen.sh', prompts/gone.txt, 'gone.py:make', 'lib:gone.py']\n" + one_test);
  EXPECT_TRUE(has(said, ":1: the prompt is made by the program \"exec:./gen.sh\"")) << said;
  EXPECT_TRUE(has(said, ":1: names \"prompts/gone.txt\", which is not there: the prompt is left out"))
      << said;
  EXPECT_TRUE(has(said, ":1: names \"gone.py:make\", which is not there: the prompt is left out")) << said;
  EXPECT_EQ(import("prompts: ['{{q}}', 'exec:./gen.sh', prompts/gone.txt, 'gone.py:make', 'lib:gone.py', "
                   "'Run a.py: {{q}}']\n" +
                   one_test)
                .prompts,
            2u);
}

// The suite did not load: "lang" was used by nothing.
TEST_F(Promptfoo, KeepsNoVariableOfChecksThatATestDoesWithout) {
  const std::string made = suite(
      "prompts: ['Say {{q}}']\ndefaultTest: {vars: {lang: fr}, assert: [{type: contains, value: "
      "'{{lang}}'}]}\n"
      "tests: [{vars: {q: x}, options: {disableDefaultAsserts: true}, assert: [{type: contains, value: "
      "y}]}]\n");
  EXPECT_FALSE(has(made, "lang: ")) << made;
}

TEST_F(Promptfoo, LeavesOutASchemaWhoseValuesAFilterWrites) {
  const std::string said = notes(
      "prompts: ['Say {{q}}']\ntests: [{vars: {q: '5'}, assert: [{type: is-json, value: '{\"const\": {{q | "
      "dump}}}'}, "
      "{type: contains, value: y}]}]\n");
  EXPECT_TRUE(has(said, "has a schema with values that a filter writes as JSON")) << said;
}

TEST_F(Promptfoo, ShowsNoArgumentsOfAProgram) {
  const std::string made =
      suite("prompts: ['Say {{q}}']\nproviders: ['openai:m', 'exec: python chain.py --api-key sk-secret']\n" +
            one_test);
  EXPECT_TRUE(has(made, "exec: python chain.py")) << made;
  EXPECT_FALSE(has(made, "sk-secret")) << made;
}

TEST_F(Promptfoo, HasTheOnePromptOfAConfigurationWithoutPrompts) {
  const std::string made =
      suite("providers: ['openai:m']\ntests: [{vars: {prompt: Hi}, assert: [{type: contains, value: y}]}]\n");
  EXPECT_TRUE(has(made, "prompts:\n  - id: prompt\n    prompt: \"{{prompt}}\"\n")) << made;
  EXPECT_FALSE(has(made, "# ")) << made;
}

TEST_F(Promptfoo, TakesTheFormOfItsOnlyPrompt) {
  const std::string prompt = "{raw: 'Say {{q}}', config: {response_format: {type: json_object}, top: 1}}";
  const std::string made = suite("prompts: [" + prompt + "]\n" + one_test);
  EXPECT_TRUE(has(made, "    input:\n      response_format: json\n")) << made;
  EXPECT_TRUE(has(made, "# 1: \"top\" in config of a prompt has no counterpart: left out")) << made;
  EXPECT_TRUE(has(notes("prompts: [" + prompt + ", 'Ask {{q}}']\n" + one_test),
                  ":1: \"response_format\" is that of one prompt among several"));
}

TEST_F(Promptfoo, AsksNoOtherServerThanTheOneThatIsMeant) {
  const std::string made = suite(
      "prompts: ['{{q}}']\nproviders:\n"
      "  - {id: 'openai:a', config: {apiBaseUrl: '{{env.PROXY_URL}}'}}\n"
      "  - {id: 'ollama:chat:l', config: {apiBaseUrl: 'http://h:1'}}\n"
      "  - openai:completion:gpt-3.5-turbo-instruct\n"
      "  - openai:responses:gpt-4o-mini\n"
      "  - {id: 'openai:b', transform: output.x}\n"
      "  - 'exec: python chain.py'\n"
      "  - {id: 'openai:c', config: {top_p: '{{env.TOPP}}', stop: ['{{env.S}}']}}\n" +
      one_test);
  EXPECT_TRUE(has(made, "providers:\n  - \"openai-responses:gpt-4o-mini\"\n  - \"openai:c\"\ntests:"))
      << made;
  for (const char* line :
       {"# 3: the provider \"openai:a\" has an \"apiBaseUrl\" that sluice cannot take over: left out",
        "# 4: the provider \"ollama:chat:l\" has an \"apiBaseUrl\"",
        "# 5: the provider \"openai:completion:gpt-3.5-turbo-instruct\" is no chat",
        "# 7: the provider \"openai:b\" changes answers by its \"transform\"",
        "# 8: the provider \"exec: python chain.py\" is a program",
        "# 9: \"top_p\" in config of a provider holds a template", "# 9: \"stop\" in config"})
    EXPECT_TRUE(has(made, line)) << line << "\n" << made;
}

TEST_F(Promptfoo, NamesTheServerThatAFieldGoesTo) {
  const auto server = [](const std::string& body) {
    return "  - {id: https, config: {url: 'https://api.example.com/" + body +
           "', method: POST, body: {q: '{{prompt}}', m: " + body +
           "}, transformResponse: json.a, headers: {X-Key: '{{env.A}} {{env.B}}'}}}\n";
  };
  const std::string said =
      notes("prompts: ['{{q}}']\nproviders:\n" + server("one") + server("two") + one_test);
  EXPECT_TRUE(has(said,
                  ":3: \"X-Key\" in headers of a provider cannot be said as it stands: add it to "
                  "[providers.api-example-com];"))
      << said;
  EXPECT_TRUE(has(said,
                  ":4: \"X-Key\" in headers of a provider cannot be said as it stands: add it to "
                  "[providers.api-example-com-2];"))
      << said;
}

// They were `hello-in-language` and `hello-in-language-2`, of which nobody knew which was which.
TEST_F(Promptfoo, FillsInTheNamesOfTests) {
  const std::string made = suite(R"yaml(prompts: ['{{q}}']
defaultTest: {vars: {tone: kindly}}
scenarios:
  - config: [{vars: {language: Dutch}}, {vars: {language: [Thai, Zulu]}}]
    tests: [{description: 'Hello in {{ language }}, {{tone}}', vars: {q: Hi}, assert: [{type: contains, value: x}]}]
tests: [{description: 'Of {{nothing}}', vars: {q: Hi}, assert: [{type: contains, value: x}]}]
)yaml");
  for (const char* name : {"  - id: hello-in-dutch-kindly\n    name: \"Hello in Dutch, kindly\"\n",
                           "name: \"Hello in Thai, kindly\"\n", "name: \"Hello in Zulu, kindly\"\n",
                           "name: \"Of {{nothing}}\"\n"})
    EXPECT_TRUE(has(made, name)) << name << "\n" << made;
  EXPECT_FALSE(has(made, "# ")) << "a variable that a name shows is no loss: " << made;
}

// Its keys were in the order of letters.
TEST_F(Promptfoo, WritesMappingsAsJsonInTheOrderOfTheConfiguration) {
  write("v.yaml", "z: 1\na: {y: 1, b: 2}\n");
  const std::string made = suite(R"yaml(x-base: &base {q: 1, p: 2}
prompts: ['{{ user | dump }} {{file}} {{list}}']
tests:
  - vars:
      user: {name: Jo, age: 7, 10: x, 9: y, home: {<<: *base, town: Lima, area: m}}
      file: file://v.yaml
      list: [{b: 1, a: 2}]
    assert: [{type: javascript, value: 'output == {{ user | dump }}.name'}]
)yaml");
  EXPECT_TRUE(has(
      made,
      R"("{\"9\":\"y\",\"10\":\"x\",\"name\":\"Jo\",\"age\":7,\"home\":{\"q\":1,\"p\":2,\"town\":\"Lima\",\"area\":\"m\"}}")"))
      << made;
  EXPECT_TRUE(has(made, R"("output == {\"9\":\"y\",\"10\":\"x\",\"name\":\"Jo\",)")) << made;
  EXPECT_TRUE(has(made, R"(file: "{\"z\":1,\"a\":{\"y\":1,\"b\":2}}")")) << made;
  EXPECT_TRUE(has(made, R"(list: "[{\"b\":1,\"a\":2}]")")) << made;
}

// They were left out, without their tests.
TEST_F(Promptfoo, ReadsScenariosOfFiles) {
  write("one.yaml",
        "config: [{vars: {a: x}}]\ntests: [{vars: {q: 1}, assert: [{type: webhook, value: x}]}]\n");
  write("more.yaml",
        "- config: [{vars: {a: y}}]\n  tests: [{vars: {q: 2}, assert: [{type: contains, value: z}]}]\n");
  const ImportedSuite imported =
      import("prompts: ['{{a}} {{q}}']\nscenarios: ['file://one.yaml', 'file://more.yaml']\n");
  EXPECT_EQ(imported.tests, 2u);
  EXPECT_TRUE(has(notes_of(imported), "one.yaml:2: the check webhook has no counterpart"))
      << notes_of(imported);
  EXPECT_EQ(import("prompts: ['{{a}} {{q}}']\nscenarios: file://more.yaml\n").tests, 1u);
  write("promptfooconfig.yaml", "prompts: ['{{q}}']\ntests: []\nscenarios: [file://gone.yaml]\n");
  EXPECT_FALSE(import_promptfoo(folder_.path() / "promptfooconfig.yaml", {})) << "as there";
}

// A prompt before the file changed the ids of those in it, and their baselines were lost.
TEST_F(Promptfoo, CountsThePromptsOfAFileByItself) {
  write("multi.txt", "One {{q}}\n---\nTwo {{q}}\n---\nThree {{q}}\n");
  const std::string made = suite("prompts: ['Zero {{q}}', file://multi.txt]\n" + one_test);
  for (const char* prompt : {"- id: multi\n    prompt: \"One", "- id: multi-2\n    prompt: \"Two",
                             "- id: multi-3\n    prompt: \"Three"})
    EXPECT_TRUE(has(made, prompt)) << prompt << "\n" << made;
}

TEST_F(Promptfoo, GivesIdsToWhatHasNoLatinLetters) {
  const std::string made = suite(
      "prompts: [{raw: '{{q}}', label: 東京}]\nproviders: [{id: 'openai:m', label: 大阪}]\n"
      "tests:\n  - {description: 大阪, vars: {q: [x, z]}, assert: [{type: contains, value: y}]}\n"
      "  - {description: JSON order, vars: {q: [x, z]}, assert: [{type: contains, value: y}]}\n");
  for (const char* id : {"- id: \"1\"\n", "\"openai:m\"\n", "id: test-1\n", "id: test-2\n",
                         "id: json-order\n", "id: json-order-2\n"})
    EXPECT_TRUE(has(made, id)) << id << "\n" << made;
}

TEST_F(Promptfoo, TakesTheThresholdsAndMetadataOfATable) {
  write("t.csv",
        "q,__expected,__expected2,__config:__expected2:threshold,__metadata:area,__metadata:uses[]\n"
        "x,contains: y,similar: z,0.6,eu,\"a, b\"\nw,similar: v,,,,\n");
  const std::string made = suite("prompts: ['{{q}}']\ntests: file://t.csv\n");
  EXPECT_TRUE(has(made, "text: z\n        min_score: 0.6\n")) << made;
  EXPECT_TRUE(has(made, "text: v\n        min_score: 0.8\n")) << made;
  EXPECT_TRUE(has(made, "tags:\n      - \"area:eu\"\n      - \"uses:a\"\n      - \"uses:b\"\n")) << made;
}

TEST_F(Promptfoo, TakesTheTimeOfATestAndSaysWhatTheCacheIs) {
  const std::string made =
      suite("prompts: ['{{q}}']\nevaluateOptions: {timeoutMs: 1500, cache: false}\n" + one_test);
  EXPECT_TRUE(has(made, "settings:\n  timeout_seconds: 1.5\n")) << made;
  EXPECT_TRUE(has(made, "# 2: \"cache: false\" is said with --no-cache: left out")) << made;
}

TEST_F(Promptfoo, ReadsAQuestionMarkInAFlow) {
  write("tests.yaml", "- vars: { q: How long? }\n  assert: [{type: contains, value: Why? Because?}]\n");
  const std::string made = suite("prompts: ['{{q}}']\ntests: file://tests.yaml\n");
  EXPECT_TRUE(has(made, "q: \"How long?\"\n")) << made;
  EXPECT_TRUE(has(made, "text: \"Why? Because?\"\n")) << made;
}

// It was read until the stack was full.
TEST_F(Promptfoo, ReadsNoFileThatNamesItselfForEver) {
  write("self.yaml", "- file://self.yaml\n");
  write("text.yaml", "'file://text.yaml'\n");
  for (const char* config : {"tests: file://self.yaml", "scenarios: [file://self.yaml]",
                             "tests: [{vars: 'file://text.yaml', assert: [{type: contains, value: y}]}]"}) {
    write("promptfooconfig.yaml", "prompts: ['{{q}}']\n" + std::string(config) + "\n");
    const auto imported = import_promptfoo(folder_.path() / "promptfooconfig.yaml", {});
    ASSERT_FALSE(imported) << config;
    EXPECT_TRUE(has(join_findings(imported.error()), "leads to itself")) << join_findings(imported.error());
  }
  EXPECT_TRUE(has(notes("prompts: ['{{q}}']\nproviders: file://self.yaml\n" + one_test), "leads to itself"));
  EXPECT_TRUE(
      has(notes("prompts: ['{{q}}']\ndefaultTest: file://text.yaml\n" + one_test), "leads to itself"));
}

// Ten names of itself were read eight deep.
TEST_F(Promptfoo, ReadsNoFileThatNamesItselfOften) {
  std::string often;
  for (int i = 0; i < 10; ++i) often += i % 2 == 0 ? "- file://self.yaml\n" : "- file://./other.yaml\n";
  write("self.yaml", often);
  write("other.yaml", often);
  write("promptfooconfig.yaml", "prompts: ['{{q}}']\ntests: file://self.yaml\n");
  const auto imported = import_promptfoo(folder_.path() / "promptfooconfig.yaml", {});
  ASSERT_FALSE(imported);
  EXPECT_TRUE(has(join_findings(imported.error()), "names \"self.yaml\", which leads to itself"))
      << join_findings(imported.error());
}

// Each way through twelve files that name each other was gone, eight deep.
TEST_F(Promptfoo, FollowsFilesThatNameEachOtherOnlySoOften) {
  std::string all;
  for (int i = 0; i < 12; ++i) all += "- file://" + std::to_string(i) + ".yaml\n";
  for (int i = 0; i < 12; ++i) write(std::to_string(i) + ".yaml", all);
  const std::string said = notes("prompts: ['{{q}}']\nproviders: file://0.yaml\n" + one_test);
  EXPECT_TRUE(has(said, "which stands behind more than 10000 names of files")) << said;
}

// All its tests were left out, with one line.
TEST_F(Promptfoo, IsNotImportedWithoutATestsFileThatIsNoDocument) {
  write("tests.yaml", "- vars: { q: [ }\n");
  write("promptfooconfig.yaml", "prompts: ['{{q}}']\ntests: file://tests.yaml\n");
  const auto imported = import_promptfoo(folder_.path() / "promptfooconfig.yaml", {});
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().front().file, "tests.yaml");
  EXPECT_TRUE(has(imported.error().front().message, "not valid YAML")) << imported.error().front().message;
}

// A check looked for the mark before the text, and found it in no answer.
TEST_F(Promptfoo, LeavesTheByteOrderMarkOfAFileOut) {
  write("prompt.txt", "\xef\xbb\xbfSay {{q}}\r\n");
  write("word.txt", "\xef\xbb\xbfParis\r\n");
  const std::string made = suite(
      "prompts: [file://prompt.txt]\ntests: [{vars: {q: x}, assert: [{type: contains, value: "
      "file://word.txt}]}]\n");
  EXPECT_TRUE(has(made, "prompt: \"Say {{q}}\"\n")) << made;
  EXPECT_TRUE(has(made, "text: Paris\n")) << made;
}

}  // namespace sluice::promptfoo_sources_test
