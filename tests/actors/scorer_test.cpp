#include "worker/units/scorer.hpp"

#include "tests/actors/actor_fixture.hpp"
#include "worker/defaults.hpp"
#include "worker/messages.hpp"
#include "worker/scoring/claims_parser.hpp"

namespace sluice {
namespace {

constexpr const char* ontology =
    "version = \"1\"\n[[subject]]\npath = \"a/b\"\ndescription = \"d\"\n"
    "[[subject.predicate]]\nname = \"p\"\ntype = \"text\"\ndescription = \"d\"\n";

class ScorerTest : public ActorTest {
 protected:
  ScorerTest() {
    auto parsed = Ontology::parse(ontology, "the test's ontology");
    EXPECT_TRUE(parsed);
    scorer =
        owned(spawn_scorer(system(), std::make_shared<const RunChecks>(std::move(*parsed)), worker.handle()));
  }

  static CompletedUnit completed(UnitId id, std::string text = R"({"claims":[]})") {
    WorkUnit unit;
    unit.unit = id;
    unit.tasks = {{id, {}, {}, 0.0, true, {}}};
    Completion completion;
    completion.text = std::move(text);
    return {std::make_shared<const WorkUnit>(std::move(unit)), std::move(completion), {}};
  }
  void score(UnitsCompleted batch) { caf::anon_send(scorer, std::move(batch)); }

  Probe<UnitsScored, WoundDown> worker{system()};
  caf::actor scorer;
};

TEST_F(ScorerTest, ABatchIsScoredAsOneMessage) {
  score({"run-1", {7, 8}, {completed(1), completed(2)}});
  settle();
  const auto scored = worker.take<UnitsScored>();
  ASSERT_EQ(scored.size(), 1u);
  EXPECT_EQ(scored[0].run_id, "run-1");
  EXPECT_EQ(scored[0].started, (std::vector<UnitId>{7, 8}));
  ASSERT_EQ(scored[0].results.size(), 2u);
  EXPECT_EQ(scored[0].results[0].unit, 1u);
  EXPECT_EQ(scored[0].results[1].scores.at(0).trial, 2u);
}

TEST_F(ScorerTest, ClaimsThatWereReadAreNotReadAgain) {
  auto one = completed(1, "this is never parsed");
  one.read.claims = std::vector<ParsedClaim>{{"a/b", "p", std::string("v"), 1.0, std::nullopt}};
  score({"run-1", {}, {std::move(one)}});
  settle();
  const auto scored = worker.take<UnitsScored>();
  ASSERT_EQ(scored.at(0).results.size(), 1u);
  const auto& result = scored[0].results[0];
  EXPECT_FALSE(result.error);
  EXPECT_EQ(result.parsed.size(), 1u);
}

// Each unit takes longer than a slice: others get their turn between them, and nothing is lost or turned
// around.
TEST_F(ScorerTest, LongBatchesAreDoneInSlicesInTheirOrder) {
  std::string text = R"({"claims":[)";
  for (std::size_t i = 0; i < defaults::max_claims; ++i) {
    if (i > 0) text += ',';
    text += R"({"subject":"a/b","predicate":"p","value":")" + std::to_string(i) + R"(","confidence":0.5})";
  }
  text += "]}";
  UnitsCompleted first{"run-1", {5}, {}};
  for (UnitId id = 0; id < 12; ++id) first.units.push_back(completed(id, text));
  score(std::move(first));
  score({"run-1", {6}, {completed(12)}});
  settle();
  const auto scored = worker.take<UnitsScored>();
  EXPECT_GE(scored.size(), 2u);
  std::vector<UnitId> started;
  UnitId next = 0;
  for (const auto& part : scored) {
    started.insert(started.end(), part.started.begin(), part.started.end());
    for (const auto& result : part.results) EXPECT_EQ(result.unit, next++);
  }
  EXPECT_EQ(next, 13u);
  EXPECT_EQ(started, (std::vector<UnitId>{5, 6}));
}

}  // namespace
}  // namespace sluice
