#include "tools/compare/page.hpp"

#include "tests/unit/compare/made_up_comparison.hpp"
#include "tools/compare/chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <set>
#include <string>
#include <utility>
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

/// `html` without what stands inside `element`, which is no markup.
std::string without_inside(std::string html, const std::string& element) {
  const std::string close = "</" + element + ">";
  for (std::size_t at = 0; (at = html.find("<" + element + ">", at)) != std::string::npos;) {
    const std::size_t end = html.find(close, at);
    if (end == std::string::npos) break;
    html.erase(at, end + close.size() - at);
  }
  return html;
}

/// What is wrong with the nesting of `html`; empty: every element is closed where it should be.
/// Looks at the letters itself: GCC 12 warns of what is inside std::regex when it builds with
/// AddressSanitizer.
std::string misnested(std::string html) {
  html = without_inside(without_inside(std::move(html), "style"), "script");
  const std::set<std::string> empty = {"meta", "!doctype"};
  std::vector<std::string> open;
  for (std::size_t at = 0; (at = html.find('<', at)) != std::string::npos;) {
    const std::size_t end = html.find_first_of("<>", at + 1);
    if (end == std::string::npos || html[end] != '>') return "a < that no > ends";
    const std::string tag = html.substr(at + 1, end - at - 1);
    at = end;
    const bool closes = tag.starts_with('/');
    std::string name = tag.substr(closes ? 1 : 0);
    name.resize(std::min(name.find_first_of(" \t\n/"), name.size()));
    for (char& letter : name) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    if (empty.contains(name) || tag.ends_with('/')) continue;
    if (!closes) {
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
  EXPECT_NE(misnested("<p><b></b>"), "");
  EXPECT_NE(misnested("</p>"), "");
  EXPECT_EQ(misnested("<!doctype html><p class=a>x<br/></p><style>a<b{}</style>"), "");
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
