#include "coordinator/suite/documents/json_document.hpp"

#include "common/documents/canonical_json.hpp"
#include "coordinator/suite/documents/document_context.hpp"

#include <string>

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace sluice {
namespace {

std::string canonical(const std::string& json) {
  const auto node = parse_json(json, 7);
  return node ? canonical_json(*node) : std::to_string(node.error().line) + ": " + node.error().message;
}

TEST(JsonDocument, EqualValuesHaveOneCanonicalForm) {
  EXPECT_EQ(canonical(R"( { "b" : [1.0, 1e2, -0.0, 0.10, null, true], "a" : {"z":1,"y":"\u00e9\n"} } )"),
            "{\"a\":{\"y\":\"\xc3\xa9\\n\",\"z\":1},\"b\":[1,100,0,0.1,null,true]}");
  EXPECT_EQ(canonical("18446744073709551615"), "18446744073709551616");
}

TEST(JsonDocument, NamesWhatItCannotRead) {
  EXPECT_EQ(canonical("{\"a\":1,\n\"a\":2}"), "7: the key \"a\" stands twice");
  EXPECT_EQ(canonical("1e400"), "7: a number is too large");
  EXPECT_EQ(canonical("\"\xff\""), "7: not valid UTF-8" + std::string(how_to_reach_utf8));
  EXPECT_TRUE(canonical("{\"a\":\n1,}").starts_with("8: not valid JSON: ")) << canonical("{\"a\":\n1,}");
  EXPECT_TRUE(canonical("").starts_with("7: not valid JSON: ")) << canonical("");
  EXPECT_TRUE(canonical("{} {}").starts_with("7: not valid JSON: ")) << canonical("{} {}");
  EXPECT_TRUE(canonical("NaN").starts_with("7: not valid JSON: ")) << canonical("NaN");
  EXPECT_EQ(canonical(std::string(100'000, '[')), "7: is nested more than 64 deep");
}

TEST(JsonDocument, ItsCanonicalFormIsJsonOfTheSameForm) {
  EXPECT_TRUE(rc::check([](const std::vector<std::pair<std::string, double>>& members) {
    DocumentNode::Table table;
    for (const auto& [key, number] : members) {
      if (std::isfinite(number))
        table.push_back({std::to_string(table.size()) + "x", 1, DocumentNode{number, 1}});
    }
    std::vector<DocumentError> twice;
    sort_entries(table, twice);
    RC_ASSERT(twice.empty());
    const std::string once = canonical_json(DocumentNode{table, 1});
    RC_ASSERT(canonical(once) == once);
  }));
}

// A document with a number that is no integer is read by the slower of two parsers.
TEST(JsonDocument, BothParsersReadTheSame) {
  const std::string deepest = std::string(62, '[') + std::string(62, ']');
  const std::string too_deep = std::string(63, '[') + std::string(63, ']');
  for (const std::string& json :
       {std::string(R"({"id":"a","expected":[{"text":["x","\u00e9\ud83d\ude00"]}],"n":null,"t":true})"),
        std::string(R"([-1,0,-0,9223372036854775807,-9223372036854775808,18446744073709551615])"),
        std::string(R"(["\u0000\"\\\/\b\f\n\r\t", "", {}, []])"), std::string(R"({"a":1,"b":{"c":2,"c":3}})"),
        std::string(R"("\ud800")"), std::string("[1,]"), std::string("\"\t\""), std::string("01"),
        std::string("\"\xc3\""), std::string("tru"), deepest, too_deep}) {
    const std::string fast = canonical("[" + json + "]");
    const std::string slow = canonical("[" + json + ",1.5]");
    if (!fast.starts_with('[')) {
      EXPECT_FALSE(slow.starts_with('[')) << json;
      continue;
    }
    EXPECT_EQ(fast.substr(0, fast.size() - 1) + ",1.5]", slow) << json;
  }
}

// That of the faster one was lost: a decimal in the line decided on it.
TEST(JsonDocument, BothParsersKeepTheOrderOfKeys) {
  const auto written = [](const std::string& json) {
    const auto node = parse_json(json, 1);
    return node ? json_as_written(*node) : node.error().message;
  };
  const std::string object =
      R"({"b":1,"a":{"z":[{"y":1,"x":2}],"c":{}},"Z":null,"k9":0,"k8":0,"k7":0,"k6":0,"k5":0,"k4":0,"k3":0,)"
      R"("k2":0,"k1":0,"k0":0,"j9":0,"j8":0,"j7":0,"j6":0,"j5":0,"j4":0,"j3":0,"j2":0,"j1":0,"j0":0})";
  for (const std::string& json : {std::string(R"({"b":1,"a":2})"), object, "[" + object + ",1.5]"})
    EXPECT_EQ(written(json), json);
}

}  // namespace
}  // namespace sluice
