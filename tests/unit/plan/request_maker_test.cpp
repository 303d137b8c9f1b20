// Requests as they are made of cases, and cases of which none can be made.
#include "coordinator/plan/request_maker.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sluice {
namespace {

RequestMaker maker() {
  PromptTemplate prompt;
  prompt.user = "Look at {{content}}";
  RequestSettings cheap;
  cheap.provider.name = "openai";
  cheap.model = "small";
  RequestSettings dear = cheap;
  dear.model = "large";
  dear.seed = 7;
  return {std::move(prompt), Ontology(), {cheap, dear}};
}

TEST(RequestMaker, AClaimsRequestIsWhatItsArmHasInCommonAndTheUserMessage) {
  const RequestMaker made = maker();
  Case one;
  one.arm = 1;
  one.content = "code";
  const ModelRequest common = made.of_claims(1, 2);
  EXPECT_EQ(common.model, "large");
  EXPECT_EQ(common.seed, 9);
  EXPECT_EQ(common.user, "");
  EXPECT_EQ(made.user_of_claims(one, nullptr), "Look at code");
  const ModelRequest whole = made.of(one, nullptr, 2);
  EXPECT_EQ(whole.user, "Look at code");
  EXPECT_EQ(whole.model, common.model);
  EXPECT_EQ(whole.seed, common.seed);
}

TEST(RequestMaker, AnExampleStandsBeforeWhatIsAsked) {
  const RequestMaker made = maker();
  const SharedText example = share(std::string("Like this."));
  Case one;
  one.content = "code";
  EXPECT_EQ(made.of(one, example, 0).user, "Like this.\n\nLook at code");
  one.kind = CaseKind::text;
  one.context = "It is noon.";
  EXPECT_EQ(made.of(one, example, 0).user, "Like this.\n\nIt is noon.\n\ncode");
}

TEST(RequestMaker, ABodyOfOnesOwnHasNoPlaceForToolsAndImages) {
  Case one;
  one.id = "a";
  EXPECT_EQ(problem_with_request(one, ProviderKind::http), "");
  one.extras.tools.emplace_back();
  EXPECT_EQ(problem_with_request(one, ProviderKind::openai), "");
  EXPECT_EQ(problem_with_request(one, ProviderKind::exec), "");
  EXPECT_TRUE(problem_with_request(one, ProviderKind::http).starts_with("the case \"a\" has tools,"));
  one.extras.messages = {{MessageRole::user, {{PartKind::image_url, "https://example.org/a.png"}}}};
  EXPECT_TRUE(problem_with_request(one, ProviderKind::http).starts_with("the case \"a\" has images,"));
}

}  // namespace
}  // namespace sluice
