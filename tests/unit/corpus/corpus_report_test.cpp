#include "coordinator/corpus/corpus_report.hpp"

#include <gtest/gtest.h>

namespace sluice::corpus_report_test {

// It blamed the rules, where the budget left every file out.
TEST(CorpusReport, WhereNoFileIsLeftTheBudgetIsNamed) {
  Scan scan;
  scan.left_out.beyond_scan = 54;
  EXPECT_EQ(
      nothing_to_ask_about(scan, "src"),
      "no file below src fits into what the scan may take: 54 beyond --max-tokens-per-scan (see above); "
      "raise that, or name another folder");
  scan.left_out.beyond_scan = 0;
  scan.left_out.without_trigger = 3;
  EXPECT_TRUE(nothing_to_ask_about(scan, "src").starts_with("no file below src is worth asking about"));
}

// A bound was called a length: a model may count half as many tokens.
TEST(CorpusReport, SaysThatAFileIsTooLongByABound) {
  Scan scan;
  scan.left_out.too_long = 1;
  scan.left_out.longest = {"a.c"};
  const std::string text = scan_text(scan, "src", {}, 200);
  EXPECT_NE(text.find("Too long by the upper bound of their tokens: a.c.\n"), std::string::npos) << text;
}

// "made before" of a folder in which nothing had been made.
TEST(CorpusReport, ARepeatedClaimIsNoEarlierOne) {
  GeneratedCorpus corpus;
  corpus.answers = 106;
  corpus.claims.claims = 22;
  corpus.claims.repeated = 6;
  const std::string text = corpus_text(corpus, 120);
  EXPECT_TRUE(text.starts_with("22 claims in 106 answers; left out: 6 that repeat another.")) << text;
}

}  // namespace sluice::corpus_report_test
