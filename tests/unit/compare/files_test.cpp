#include "tests/unit/compare/made_up_comparison.hpp"
#include "tools/compare/csv.hpp"
#include "tools/compare/json.hpp"
#include "tools/compare/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

/// The table and the files for programs, of a comparison that nobody ran.
namespace thalweg::compare {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class FilesTest : public ::testing::Test {
 protected:
  const Comparison comparison = made_up_comparison();
  const double target = target_of(comparison);
  const std::vector<Figures> figures = figures_of(comparison, target);
};

TEST_F(FilesTest, CsvHasARowForEachRun) {
  std::istringstream csv(csv_text(comparison, target));
  std::string head, row;
  std::getline(csv, head);
  EXPECT_THAT(head, StartsWith("label,method,own_settings,seed,end,accuracy,"));
  EXPECT_THAT(head, HasSubstr(",bytes_up_0,bytes_down_0,bytes_up_1,bytes_down_1"));
  std::size_t rows = 0;
  while (std::getline(csv, row)) {
    ++rows;
    EXPECT_THAT(row, HasSubstr("\"out/run, \"\"one\"\"\""));
  }
  EXPECT_EQ(rows, comparison.runs.size());
  EXPECT_THAT(
      csv_text(comparison, target),
      HasSubstr("\ninhad(2),inhad(2),\"train.lr=0.1, train.momentum=0\",7,done,0.9,0.5,,4,250,,0.75,"));
}

TEST_F(FilesTest, JsonHasFiguresAndCurves) {
  const auto json = nlohmann::json::parse(comparison_json(comparison, figures, target), nullptr, false);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["methods"].size(), 3U);
  EXPECT_EQ(json["methods"][1]["own_settings"]["train.lr"], "0.1");
  EXPECT_EQ(json["methods"][0]["wall_s"]["mean"], 10);
  EXPECT_TRUE(json["methods"][0]["speed_share"]["mean"].is_null());
  EXPECT_EQ(json["runs"].size(), 6U);
  EXPECT_EQ(json["runs"][0]["loss"]["value"], (std::vector<double>{2, 1, 0.5}));
  EXPECT_EQ(json["runs"][4]["summary"]["end"], "diverged");
  EXPECT_EQ(json["samples"]["least"], 1000);
}

TEST_F(FilesTest, TableFitsItsWidthAndHasAllLabels) {
  const std::string text = table_text(table_columns(comparison, figures, target), 80);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto columns = std::ranges::count_if(
        line, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; });
    EXPECT_LE(columns, 80) << line;
  }
  for (const Contestant& contestant : comparison.contestants) EXPECT_THAT(text, HasSubstr(contestant.label));
  EXPECT_THAT(text, HasSubstr("81.00 % ± 2.00"));
  EXPECT_THAT(text, HasSubstr("1 of 2"));
  EXPECT_THAT(text, HasSubstr("1.00 kB + 2.00 kB"));
}

TEST_F(FilesTest, NotesSayWhatTheFiguresMean) {
  const auto notes = table_notes(comparison, figures, target);
  EXPECT_THAT(notes, Contains(HasSubstr("Every finished run committed 1,000 samples")));
  EXPECT_THAT(notes, Contains("inhad(2) has settings of its own: train.lr=0.1, train.momentum=0."));
  EXPECT_THAT(
      notes,
      Contains(HasSubstr("inhad(2), equal settings: 1 diverged, left out of the means: every gradient")));
}

TEST_F(FilesTest, NothingIsAComparisonToo) {
  Comparison empty = comparison;
  empty.runs.clear();
  const double none = target_of(empty);
  const auto no_figures = figures_of(empty, none);
  EXPECT_THAT(table_text(table_columns(empty, no_figures, none), 120), HasSubstr("0 of 2"));
  EXPECT_THAT(table_notes(empty, no_figures, none), Contains("Ended early: 0 of 6 runs were made."));
  EXPECT_TRUE(nlohmann::json::parse(comparison_json(empty, no_figures, none), nullptr, false).is_object());
}

}  // namespace
}  // namespace thalweg::compare
