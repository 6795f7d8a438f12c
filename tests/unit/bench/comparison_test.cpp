#include "tools/bench/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace thalweg::bench {
namespace {

using testing::HasSubstr;

/// Ours takes 2 s and 4 s, the reference 1 s and 2 s.
Comparison twice_as_slow(Sense sense) {
  std::size_t call = 0;
  const std::vector<double> costs = {0, 0, 2, 1, 4, 2};
  const auto next = [&]() -> Result<double> { return costs[call++]; };
  const auto measured = Interleaved::measure({{"ours", next}, {"theirs", next}}, 2);
  Comparison comparison = compare(*measured, 0, 1, sense);
  comparison.bench = "rounds";
  comparison.what = "two workers";
  comparison.unit = "round";
  comparison.subject = "ours";
  comparison.reference = "theirs";
  comparison.floor = {0.5, "1 MB at 2 MB/s"};
  return comparison;
}

TEST(Comparison, SpeedIsTheReferencesTimeOverOurs) {
  Comparison comparison = twice_as_slow(Sense::speed);
  EXPECT_EQ(comparison.ratio.median, 0.5);
  comparison.target = 0.5;
  EXPECT_TRUE(comparison.met());
  comparison.target = 0.6;
  EXPECT_FALSE(comparison.met());
}

TEST(Comparison, TimeIsOursOverTheReferences) {
  Comparison comparison = twice_as_slow(Sense::time);
  EXPECT_EQ(comparison.ratio.median, 2);
  comparison.target = 2;
  EXPECT_TRUE(comparison.met());
  comparison.target = 1.5;
  EXPECT_FALSE(comparison.met());
}

TEST(Comparison, TextSaysTheFloorFirstAndThenHowFarBothAreFromIt) {
  Comparison comparison = twice_as_slow(Sense::time);
  comparison.target = 1.5;
  EXPECT_EQ(comparison_text(comparison),
            "rounds: two workers; times of a round\n"
            "  floor     500 ms  1 MB at 2 MB/s\n"
            "  ours         3 s  6.00 x the floor\n"
            "  theirs     1.5 s  3.00 x the floor\n"
            "  ratio      2.000  of the reference's time (2.000 to 2.000); target at most 1.50: missed\n");
}

TEST(Comparison, TheTableHasALineForEach) {
  Comparison with_target = twice_as_slow(Sense::speed);
  with_target.target = 0.9;
  Comparison without = twice_as_slow(Sense::time);
  without.bench = "sum";
  EXPECT_EQ(comparison_table({with_target, without}),
            "rounds  ours : theirs  two workers  speed  0.500  >= 0.90  missed\n"
            "sum     ours : theirs  two workers  time   2.000\n");
}

TEST(Comparison, ReportIsOneLineOfJson) {
  Report report;
  report.version = "0.1.0";
  report.hardware = "a processor";
  report.pairs = 2;
  report.comparisons = {twice_as_slow(Sense::speed)};
  const std::string text = report_json(report);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["machine"]["hardware"], "a processor");
  const auto& comparison = json["comparisons"][0];
  EXPECT_EQ(comparison["bench"], "rounds");
  EXPECT_EQ(comparison["floor"]["s"], 0.5);
  EXPECT_EQ(comparison["subject"]["s"], 3);
  EXPECT_EQ(comparison["ratio"]["of"], "speed");
  EXPECT_EQ(comparison["ratio"]["median"], 0.5);
  EXPECT_TRUE(comparison["target"].is_null());
  EXPECT_EQ(comparison["met"], true);
}

}  // namespace
}  // namespace thalweg::bench
