// The perturbations of prose, by example.
#include "coordinator/perturb/perturbation.hpp"
#include "coordinator/perturb/segments.hpp"
#include "tests/unit/perturb/perturb_outcome.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::prose_test {
namespace {

struct Example {
  std::string text;
  std::string expected;  ///< The changed text, "=" for none, or "?" and the reason why it is skipped.
};

void expect_outcomes(std::string_view name, const std::vector<Example>& examples) {
  for (const auto& [text, expected] : examples) EXPECT_EQ(outcome(name, "", text), expected) << text;
}

std::vector<std::string_view> names_of_prose() {
  std::vector<std::string_view> names;
  for (const auto& one : perturbations()) {
    if (one.of_prose) names.push_back(one.name);
  }
  return names;
}

/// What no perturbation of prose may touch, with a bar between.
std::string kept(std::string_view text) {
  std::string result;
  const auto segmentation = cut_into_segments(Language::prose, text);
  EXPECT_FALSE(segmentation.doubt) << text;
  for (const auto& segment : segmentation.segments) {
    if (segment.kind == SegmentKind::code) continue;
    if (!result.empty()) result += '|';
    result += text.substr(segment.begin, segment.end - segment.begin);
  }
  return result;
}

TEST(Prose, TwoBlanksStandBetweenSentences) {
  expect_outcomes("double-spaces",
                  {
                      {"Be brief. Why? Say so.\nGo on! Now.", "Be brief.  Why?  Say so.\nGo on!  Now."},
                      {"Sei kurz. Über Äpfel.\r\n", "Sei kurz.  Über Äpfel.\r\n"},
                      {"(Be brief.) Why?", "="},
                      {"(See below). Then say so.", "(See below).  Then say so."},
                      {"Be brief.  Say so.", "="},
                      {"J. Smith spoke... Then 1. Now e.g. here.", "="},
                      {"Dr. Smith met Mrs. Jones. Why?", "Dr. Smith met Mrs. Jones.  Why?"},
                      {"What is the capital of France?", "="},
                  });
}

TEST(Prose, LettersWithinAFewWordsChangePlaces) {
  expect_outcomes(
      "typos",
      {
          {"What is the capital of France?", "What is the captial of France?"},
          {"The model's answer is wrong. Why?\r\nExplain the problem briefly.\r\n",
           "The model's answer is wrong. Why?\r\nExplain the prolbem briefly.\r\n"},
          {"Name one country in Europe that borders both Spain and Germany. If there is none, say so.",
           "Name one country in Europe that bodrers both Spain and Germany. If there is none, say so."},
          {"Der Garten ist schön. Die Kinder spielen draußen.",
           "Der Garten ist schön. Die Kinder spileen draußen."},
          {"Tell me of Germany, NASA and Schrödinger.", "="},
          {"It was signing and singing, and it retired.", "="},
          {"The singer was braking, twenty minutes after the titled prefect.",
           "The singer was braking, twetny minutes after the titled prefect."},
          {"What is 12 and one?", "="},
          {"法国的首都是哪里？请简短回答。", "="},
      });
}

// Commands and statements are made of words, too.
TEST(Prose, NoTypoStandsInALineWithoutASentence) {
  for (const std::string code :
       {"from collections import defaultdict\nimport itertools\n", "git checkout master\n",
        "- docker compose restart backend\n", "1. select customer from customers order by revenue\n",
        "RUN install python packages\n", "$ install python packages\n", "for number in numbers:\n"}) {
    EXPECT_EQ(outcome("typos", "", "What is it?\n\n" + code), "=") << code;
    EXPECT_EQ(outcome("typos", "", "What is it:\n" + code), "=") << code;
  }
  expect_outcomes("typos",
                  {
                      {"What is the\ncapital of it\n", "What is the\ncaptial of it\n"},
                      {"What is it?\n\nit is a capital.\n", "What is it?\n\nit is a captial.\n"},
                      {"What is it?\n\n1. \"It\" is a capital\n", "What is it?\n\n1. \"It\" is a captial\n"},
                  });
}

// A text of any length has a typo, and a long one in about one of eight words that may have it.
TEST(Prose, FewWordsHaveATypo) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "Please compare the important oranges with the following planets. ";
  const std::string changed = outcome("typos", "", text);
  ASSERT_EQ(changed.size(), text.size());
  int letters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) letters += text[i] != changed[i] ? 1 : 0;
  EXPECT_GT(letters, 2 * 2000 / 16);
  EXPECT_LT(letters, 2 * 2000 / 4);
}

TEST(Prose, SentencesBeginWithASmallLetter) {
  expect_outcomes("lowercase-start", {
                                         {"What is the capital of France?", "what is the capital of France?"},
                                         {"Paris is a city. The river is the Seine. Is it long?",
                                          "Paris is a city. the river is the Seine. is it long?"},
                                         {"# The task\n- Please answer.\n- Use few words.\n",
                                          "# the task\n- please answer.\n- use few words.\n"},
                                         {"Question: What is it?\nAnswer:\n\nThe end\nThe rest.",
                                          "Question: What is it?\nAnswer:\n\nthe end\nThe rest."},
                                         {"Sie fragt sich: Was tun? Die Hunde bellen.", "="},
                                         {"So it went... The end.", "="},
                                         {"So Dr. Who and Mr. Do met.", "="},
                                     });
}

// Helium became a pronoun, and arsenic a conjunction.
TEST(Prose, AWordThatMayBeAChemicalSymbolKeepsItsCapital) {
  expect_outcomes("lowercase-start",
                  {
                      {"He is a noble gas. What is its mass?", "He is a noble gas. what is its mass?"},
                      {"In is a metal. As and Sb are none. At was made in 1940.", "="},
                      {"In 1868 it was seen. As you know, it is light. At which place?",
                       "in 1868 it was seen. as you know, it is light. at which place?"},
                      {"Which of these is a metal?\n- In\n- As\n* At \n1. In\r\n2. The\n",
                       "which of these is a metal?\n- In\n- As\n* At \n1. In\r\n2. The\n"},
                      {"It is said so. The\nend is near.", "it is said so. the\nend is near."},
                  });
}

TEST(Prose, TheFinalStopIsTakenAway) {
  expect_outcomes("final-stop", {
                                    {"Be brief. Say one.", "Be brief. Say one"},
                                    {"Say one (or two).\r\n\n", "Say one (or two)\r\n\n"},
                                    {"Es ist schö.", "Es ist schö"},
                                    {"What is it?", "="},
                                    {"And so on...", "="},
                                    {"He lives in the U.S.", "="},
                                    {"Say \"yes.\"", "="},
                                    {"Take version 2.", "="},
                                });
}

TEST(Prose, ApostrophesWithinWordsAreCurled) {
  expect_outcomes("curly-apostrophes", {
                                           {"Don't say it isn't so.", "Don’t say it isn’t so."},
                                           {"L'été n'est pas loin.", "L’été n’est pas loin."},
                                           {"The students' work: say 'it isn't'.", "="},
                                           {"Don’t. Say `isn't` and \"isn't\".", "="},
                                       });
}

TEST(Prose, OnlyItsWordsMayChange) {
  EXPECT_EQ(kept("Say \"a b\" or 'c d' to {who {is} it}, then write an answer with `e f` of course.\n"),
            "\"a b\"|'c d'|{who {is} it}|`e f`");
  EXPECT_EQ(kept("Mail jo@example.com or see https://example.com/a, and then take 12 of them with the rest."),
            "jo@example.com|https://example.com/a,|12");
  EXPECT_EQ(
      kept("Please open the file /etc/hosts, look for some_name, then for NASA, then camelCase, and tell me "
           "in a few words of your own what you find there."),
      "/etc/hosts,|some_name,|NASA,|camelCase,");
  EXPECT_EQ(kept("Sagen Sie „ein Wort“, “two words”, «deux mots» und ‘noch eines’ dazu.\n"),
            "„ein Wort“|“two words”|«deux mots»|‘noch eines’");
  EXPECT_EQ(kept("Sagen Sie ‚ein Wort‘, ‹ deux mots ›, ”ett ord”, 『二つ』 und 《三》 dazu, bitte."),
            "‚ein Wort‘|‹ deux mots ›|”ett ord”|『二つ』|《三》");
  EXPECT_EQ(kept("Please say what ‘she doesn’t know’ is in French."), "‘she doesn’t know’");
  EXPECT_EQ(kept("Please say what it is ‘that counts’—not how."), "‘that counts’|—not");
  EXPECT_EQ(kept("<note>Keep this in mind.</note> See [the link](there) for more of the same."),
            "<note>|</note>|[the link](there)");
  EXPECT_EQ(kept("It's the dogs' own work, isn't it?"), "");
  EXPECT_EQ(kept("Say \"a b until\nthe end.\n\nThen go on as before.\n"), "\"a b until\nthe end.");
}

TEST(Prose, LinesOfOtherNotationsAreKept) {
  const std::string before =
      "Please write a short report about all of this, for people who know the subject.\n\n";
  EXPECT_EQ(kept(before + "```python\nimport something\n```\nGo on.\n"),
            "```python\nimport something\n```\n");
  EXPECT_EQ(kept(before + "~~~~\na\n~~~\nb\n~~~~\nGo on.\n"), "~~~~\na\n~~~\nb\n~~~~\n");
  EXPECT_EQ(kept(before + "```\nnever closed\n"), "```\nnever closed\n");
  EXPECT_EQ(kept(before + "> quoted words\n| a | b |\n    four blanks\n\ttab\n"),
            "> quoted words|| a | b ||    four blanks|\ttab");
  EXPECT_EQ(kept(before + "format: markdown\n// a comment\nint count;\nif so {\ngit commit --amend\n"),
            "format: markdown|// a comment|int count;|if so {|git commit --amend");
  EXPECT_EQ(kept(before + "SELECT name FROM customers\n"), "SELECT name FROM customers");
  EXPECT_EQ(kept(before + "- name: Install it\nruns-on: the machine\n  step2: now\n"),
            "- name: Install it|runs-on: the machine|  step2: now");
}

TEST(Prose, FencesEndWhereTheyAreClosed) {
  const std::string before = "Please write a short report about all of this, for people who know it.\n";
  for (const std::string fence : {"```markdown\nSome words.\n```bash\nplease continue\n```\n",
                                  "- ```bash\n  first one\n\n  second one\n  ```\n",
                                  "12. - ~~~\n      first one\n\n      second one\n      ~~~ \t\n",
                                  "      ```\n      first one\n\n      second one\n      ```\r\n",
                                  "```\nwords\n    ```\nmore words\n```\n"}) {
    EXPECT_EQ(kept(before + fence + "Go on.\n"), fence);
  }
  EXPECT_EQ(kept("Write ```a``` or\n```b``` here, as it fits.\n\nGo on.\n"), "```a```|```b```");
  EXPECT_EQ(kept("Please run this at once: ```bash\nfirst one\n\nsecond one\n```\nGo on.\n"),
            "```bash\nfirst one\n\nsecond one\n```");
}

TEST(Prose, NothingRunsIntoAFence) {
  const std::string fence = "```\nfirst \"one ] } ' one\n\nsecond one\n```\n";
  for (const std::string stray : {"\"", "[", "\u201C", "`"}) {
    const std::string words = stray + "sharp, as you see:";
    EXPECT_EQ(
        kept("Please look at the screen, which is rather wide and " + words + "\n" + fence + "Go on.\n"),
        words + "|" + fence);
  }
  EXPECT_EQ(kept("Please look at the screen, which is {wide:\n" + fence + "and} sharp.\n"),
            "{wide:\n" + fence + "and}");
}

TEST(Prose, MarksOfInchesQuoteNothing) {
  EXPECT_EQ(kept("The screen is 27\" wide, and its owner says \"it is big\" of it."), "27\"|\"it is big\"");
  EXPECT_EQ(kept("Tell me what \"the \"other one\" of them is."), "\"the \"other one\"");
  EXPECT_EQ(kept("Here is one\u2014\"as it stands\" in the book."), "one\u2014|\"as it stands\"");
}

TEST(Prose, ElementsOfCodeAreKept) {
  for (const std::string element :
       {"<code>first one</code>", "<pre class=\"a\">\nfirst one\n\nsecond one\n</pre >",
        "<KBD>first one</kbd>", "<script>\nfirst < second\n\n</scripts></script>",
        "<style>first one</style>"}) {
    EXPECT_EQ(kept("Please have a look at " + element + " and say what you think of it."), element);
  }
  EXPECT_EQ(kept("Please have a look at <code>first one.\n\nAnd the second one."),
            "<code>first one.\n\nAnd the second one.");
  EXPECT_EQ(kept("Please have a look at <code/> and <b>the other one</b> here."), "<code/>|<b>|</b>");
}

TEST(Prose, CommentsAndInstructionsAreKept) {
  for (const std::string part :
       {"<!-- the <b>first</b>\n\none -->", "<% if first > one %>", "<?php the first\none ?>",
        "<![CDATA[the <first> one]]>", "<!-- the first\n\none.", "<?php the first\n\none."}) {
    EXPECT_EQ(kept("Please have a look at the page, which is long, and at " + part), part);
  }
}

TEST(Prose, BackticksCloseByAsMany) {
  EXPECT_EQ(kept("Please tell me of ``first ` one`` and `second `` one` in short."),
            "``first ` one``|`second `` one`");
  // In a time that grows with the size, not with its square.
  const std::size_t many = 1'000'000;
  const std::string text = "Please tell me of this: " + std::string(many, '`') + " one " +
                           std::string(many - 1, '`') + " " + std::string(many, 'a');
  EXPECT_EQ(kept(text), text.substr(text.find('`')));
}

TEST(Prose, WhatLooksLikeNoneIsSkipped) {
  for (const std::string text : {"", "hello world", "{\"question\": \"what is it\", \"number\": 3}",
                                 "def name(x):\n    return value\n", "import os\nimport something\n",
                                 "from collections import defaultdict", "SELECT name FROM orders\n",
                                 "#!/bin/sh\n# Say hello to everyone who is here.\necho hello\n",
                                 "// Some words about the function below.\nint main() {\n  return 0;\n}\n",
                                 "name,number\nsomething,3\n", "a: 1\nb: 2\n"}) {
    for (const auto name : names_of_prose())
      EXPECT_EQ(outcome(name, "", text), "?it does not look like prose") << name << ": " << text;
  }
}

TEST(Prose, ThatSpeaksOfItsFormIsSkipped) {
  for (const auto name : names_of_prose()) {
    EXPECT_EQ(outcome(name, "", "How many letters are in strawberry?"),
              "?it speaks of letters, spelling or punctuation (\"letters\")");
    EXPECT_EQ(outcome(name, "md", "Spelling matters here. Don't change the wording."),
              "?it speaks of letters, spelling or punctuation (\"spelling\")");
  }
}

TEST(Prose, ThatSpeaksOfItsFormAnywhereIsSkipped) {
  const std::string before = "Please do what stands here, for all of the text that follows below.\n";
  for (const auto& [line, word] : std::vector<std::pair<std::string, std::string>>{
           {"task: fix the spelling of this text", "spelling"},
           {"> Correct the wording:", "correct"},
           {"It is about \"spelling\" of course.", "spelling"},
           {"It is about \u201Cspelling\u201D of course.", "spelling"},
           {"FIX EVERY MISTAKE", "mistake"},
           {"Give me a five-letter word.", "letter"},
           {"Call `upper` with it.", "upper"},
           {"Then say it backwards.", "backwards"},
           {"Encode it as base64.", "encode"},
           {"It is base64.", "base64"},
           {"Remove all extra spaces.", "spaces"},
           {"Normalize the whitespace.", "whitespace"},
           {"Achte auf die Rechtschreibung.", "rechtschreibung"},
           {"Wie viele Buchstaben sind es?", "buchstaben"},
           {"Corrige l\u2019orthographe.", "orthographe"},
           {"Corrige la ortograf\u00EDa.", "ortograf\u00EDa"},
           {"\u00BFCu\u00E1ntas letras tiene?", "letras"}}) {
    EXPECT_EQ(outcome("typos", "", before + line + "\n"),
              "?it speaks of letters, spelling or punctuation (\"" + word + "\")");
  }
  EXPECT_EQ(outcome("lowercase-start", "", "What is the capital of France?"),
            "what is the capital of France?");
}

TEST(Prose, IsNoCode) {
  for (const auto name : names_of_prose()) {
    EXPECT_EQ(outcome(name, "python", "# What is the capital of France?\n"), "?it changes prose alone");
    EXPECT_EQ(outcome(name, "cobol", "What is the capital of France?\n"),
              "?it changes prose alone, and \"cobol\" is not known to be prose");
  }
  for (const std::string_view language : {"", "txt", "Markdown", "md", "prompt"})
    EXPECT_EQ(outcome("lowercase-start", language, "What is it?"), "what is it?");
  EXPECT_EQ(outcome("crlf", "md", "What is it?\n"),
            "?sluice does not know the comments and strings of \"md\"");
  EXPECT_EQ(outcome("final-newline", "md", "hello"), "hello\n") << "whatever it looks like";
}

TEST(Prose, OddBytesAreSkipped) {
  EXPECT_EQ(outcome("typos", "", "What is it?\rWhy?"), "?line 1: a carriage return ends no line");
  EXPECT_EQ(outcome("typos", "", std::string_view("Why?\n\0", 6)), "?line 2: a NUL byte stands in the text");
}

}  // namespace
}  // namespace sluice::prose_test
