#include "tools/compare/page.hpp"

#include "tests/unit/compare/made_up_comparison.hpp"
#include "tools/compare/chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <limits>
#include <regex>
#include <set>
#include <string>
#include <vector>

/// The page of a comparison that nobody ran.
namespace thalweg::compare {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string page_of(const Comparison& comparison) {
  const double target = target_of(comparison);
  return page_html(comparison, figures_of(comparison, target), target);
}

/// What is wrong with the nesting of `html`; empty: every element is closed where it should be.
std::string misnested(std::string html) {
  // What is inside these is no markup.
  html = std::regex_replace(html, std::regex("<(style|script)>[^]*?</\\1>"), "");
  const std::set<std::string> empty = {"meta", "!doctype"};
  const std::regex tag("<(/?)([A-Za-z!][A-Za-z0-9]*)([^<>]*?)(/?)>");
  std::vector<std::string> open;
  for (std::sregex_iterator each(html.begin(), html.end(), tag), end; each != end; ++each) {
    std::string name = (*each)[2];
    for (char& letter : name) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    if (empty.contains(name) || (*each)[4].length() > 0) continue;
    if ((*each)[1].length() == 0) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return "</" + name + "> closes <" + (open.empty() ? "" : open.back()) + ">";
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : "<" + open.back() + "> stays open";
}

TEST(Page, IsWellFormed) {
  EXPECT_EQ(misnested(page_of(made_up_comparison())), "");
  EXPECT_NE(misnested("<p><b></p></b>"), "");
}

TEST(Page, NeedsNothingButItself) {
  const std::string page = page_of(made_up_comparison());
  for (const char* outside : {"http:", "https:", "src=", "href=", "@import", "url("}) {
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  }
}

TEST(Page, HasEveryLabelAndFigure) {
  const Comparison comparison = made_up_comparison();
  const std::string page = page_of(comparison);
  for (const Contestant& contestant : comparison.contestants) {
    EXPECT_THAT(page, HasSubstr("<th scope=\"row\">" + contestant.label + "</th>"));
    EXPECT_THAT(page, HasSubstr(contestant.label + ": staleness"));
    EXPECT_THAT(page, HasSubstr(contestant.label + ": busy and waiting workers"));
  }
  for (const char* title :
       {"Training loss against samples", "Training loss against time", "Accuracy against samples",
        "Accuracy against time", "Bytes per sample", "Time to 80.19 %"}) {
    EXPECT_THAT(page, HasSubstr(title));
  }
  EXPECT_THAT(page, HasSubstr("w1: computing 100 %, waiting 0 %, 400 samples"));
  EXPECT_THAT(page, HasSubstr("1 versions old: 50.00 % of the iterations"));
}

TEST(Page, EscapesWhatComesFromOutside) {
  const std::string page = page_of(made_up_comparison());
  EXPECT_THAT(page, HasSubstr("was &lt;refused&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<refused>")));
  EXPECT_EQ(escaped("<a b='c' d=\"e\">&"), "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;");
}

TEST(Page, OneThatLearnedNothingSetsNoScale) {
  Comparison comparison = made_up_comparison();
  for (compare::Run& run : comparison.runs) {
    if (run.contestant != 0) continue;
    run.summary.accuracy = 0.1;
    for (Point& point : run.accuracy) point.value = 0.1;
    for (Point& point : run.loss) point.value = 1e12;
  }
  const std::string page = page_of(comparison);
  EXPECT_THAT(page, HasSubstr("<figcaption>Partly or wholly outside the chart: ssgd.</figcaption>"));
  EXPECT_THAT(page, HasSubstr("ssgd: a run ended below half of the best accuracy, left out of that target."));
  EXPECT_THAT(page, HasSubstr("Time to 89.10 %"));
}

TEST(Page, SaysWhenSpeedsAreEmulated) {
  Comparison comparison = made_up_comparison();
  EXPECT_THAT(page_of(comparison), Not(HasSubstr("class=\"emulated\"")));
  comparison.job.emulate.delay_ms = 5;
  EXPECT_THAT(page_of(comparison), HasSubstr("class=\"emulated\""));
}

TEST(Page, OfNothingAndOfNumbersThatAreNoneIsWhole) {
  Comparison comparison = made_up_comparison();
  for (compare::Run& run : comparison.runs) {
    for (Point& point : run.loss) point.value = std::numeric_limits<double>::infinity();
    run.summary.accuracy = unknown;
    run.summary.staleness_counts.clear();
  }
  std::string page = page_of(comparison);
  EXPECT_EQ(misnested(page), "");
  EXPECT_THAT(page, Not(HasSubstr("nan")));
  comparison.runs.clear();
  page = page_of(comparison);
  EXPECT_EQ(misnested(page), "");
  EXPECT_THAT(page, HasSubstr("Nothing was recorded."));
}

}  // namespace
}  // namespace thalweg::compare
