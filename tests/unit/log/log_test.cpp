#include "runtime/journal/journal.hpp"
#include "runtime/journal/run_log.hpp"
#include "tests/support/temp_folder.hpp"
#include "tools/log/questions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// Questions about a log that was made by hand, in which the answers are known.
namespace thalweg::log {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;
using journal::Record;
using journal::RecordType;

constexpr std::uint16_t root = 1, leader = 2, quick = 3, slow = 4;
constexpr std::array kinds = {"none", "parameters", "step_done", "contribution", "round_closed", "departed"};
constexpr const char* awkward = "g\"0\"\n\xe2\x82\xac <b>";

/// One round of two workers below a leader: w0 computes for 10 ms, w1 for 50.
class LogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    journal::Journal::Options options;
    options.folder = folder.path();
    options.node = "root";
    options.meta = {{"name", "root"}, {"node", "0"}, {"incarnation", "5"}};
    options.kind_of = [](unsigned kind) { return kinds.at(kind); };
    auto opened = journal::Journal::open(std::move(options));
    ASSERT_TRUE(opened.ok());
    journal = std::move(*opened);
    journal->name(root, "root");
    journal->name(leader, awkward);
    journal->name(quick, "w0");
    journal->name(slow, "w1");
    round_of_two();
    journal.reset();
    auto read = journal::RunLog::open(folder.path());
    ASSERT_TRUE(read.ok()) << read.error().text;
    log.emplace(std::move(*read));
  }

  /// Handled by `to` at `ms`, sent by `from` because of `cause`. Returns its id.
  std::uint64_t message(double ms, std::uint16_t to, std::uint16_t kind, std::uint16_t from,
                        std::uint64_t cause, std::int64_t round, double span_ms = 0) {
    Record record;
    record.actor = to;
    record.kind = kind;
    record.incarnation = 5;
    record.hlc = (1'000'000'000 + static_cast<std::uint64_t>(ms * 1000)) << 12;
    record.id = static_cast<std::uint64_t>(from) << 36 | ++sent;
    record.cause = cause;
    record.queue_us = 100;
    record.took_ns = 2000;
    record.numbers.round = round;
    if (kind == 3) record.numbers.version = round;
    if (span_ms > 0) record.numbers.span_ns = static_cast<std::int64_t>(span_ms * 1e6);
    record.sentence = "because";
    journal->add(record);
    return record.id;
  }

  void round_of_two() {
    const auto opened = message(0, leader, 1, root, 0, 7);
    const auto to_quick = message(1, quick, 1, leader, opened, 7);
    const auto to_slow = message(1, slow, 1, leader, opened, 7);
    const auto quick_done = message(11, quick, 2, quick, to_quick, RecordNumbers::none, 10);
    const auto slow_done = message(51, slow, 2, slow, to_slow, RecordNumbers::none, 50);
    message(12, leader, 3, quick, quick_done, 7, 10);
    const auto last = message(52, leader, 3, slow, slow_done, 7, 50);
    sum = message(53, root, 3, leader, last, 7, 60);
    message(54, root, 4, root, sum, 7);
    Record wait;
    wait.type = RecordType::wait;
    wait.actor = leader;
    wait.hlc = std::uint64_t{1'000'012'000} << 12;
    wait.took_ns = 40'000'000;
    std::copy_n("w1", 2, wait.whom.begin());
    wait.sentence = "round waits for members";
    journal->add(wait);
    Record death;
    death.actor = root;
    death.kind = 5;
    death.incarnation = 5;
    death.hlc = std::uint64_t{1'000'030'000} << 12;
    death.id = ++sent;
    journal->add(death, "w2: its \"actor\" ended,\nbadly");
  }

  template <class Ask>
  std::string said(const Ask& ask) {
    std::string all;
    const Status done = ask([&all](std::string_view text) {
      all += text;
      return Status();
    });
    EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.error().text);
    return all;
  }

  using RecordNumbers = journal::RecordNumbers;
  TempFolder folder;
  std::unique_ptr<journal::Journal> journal;
  std::optional<journal::RunLog> log;
  std::uint64_t sent = 0, sum = 0;
};

TEST_F(LogTest, WhyNamesTheStragglerAndTheDead) {
  const auto text = said([&](const Out& out) { return why_round(*log, 7, out); });
  EXPECT_THAT(text, HasSubstr("w1 computed for 50.00 ms"));
  EXPECT_THAT(text, HasSubstr("w1 is slow: it computed for 50.00 ms, the others for "));
  EXPECT_THAT(text, HasSubstr("departed: w2: its \"actor\" ended,"));
  EXPECT_THAT(text, HasSubstr("waited for"));
  EXPECT_THAT(text, Not(HasSubstr("-> w0"))) << "the critical path is w1's";
  EXPECT_FALSE(why_round(*log, 8, [](std::string_view) { return Status(); }).ok());
}

TEST_F(LogTest, TraceFollowsAGradientBothWays) {
  const auto id = "n0.a" + std::to_string(slow) + ".7";
  const auto text = said([&](const Out& out) { return trace(*log, id, out); });
  const auto parameters = text.find("parameters"), done = text.find("step_done"), own = text.find("* w1 -> "),
             up = text.find("-> root contribution"), closed = text.find("round_closed");
  EXPECT_LT(parameters, done);
  EXPECT_LT(done, own);
  EXPECT_LT(own, up);
  EXPECT_LT(up, closed);
  EXPECT_NE(closed, std::string::npos);
  EXPECT_EQ(trace(*log, "nonsense", [](std::string_view) { return Status(); }).error().code,
            ErrorCode::invalid);
  EXPECT_EQ(trace(*log, "n0.a9.9", [](std::string_view) { return Status(); }).error().code,
            ErrorCode::not_found);
}

TEST_F(LogTest, StatsNameStragglersAndCountByKind) {
  const auto text = said([&](const Out& out) { return stats(*log, out); });
  EXPECT_THAT(text, HasSubstr("w1 is a straggler: its steps take 50.00 ms, the others' 10.00 ms"));
  EXPECT_THAT(text, HasSubstr("staleness (versions: iterations): 0: 1"));
}

TEST_F(LogTest, ShowTakesWhatIsAskedFor) {
  const auto shown = [&](const Filter& filter) {
    return said([&](const Out& out) -> Status {
      const auto last = show(*log, filter, true, out);
      return last ? Status() : Status(last.error());
    });
  };
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  Filter filter;
  EXPECT_EQ(lines(shown(filter)), 11);
  filter.kind = "contribution";
  EXPECT_EQ(lines(shown(filter)), 3);
  filter.actor = "root";
  EXPECT_EQ(lines(shown(filter)), 1);
  Filter window;
  window.from_s = 0.011;
  window.to_s = 0.0525;
  EXPECT_EQ(lines(shown(window)), 6);
  window.limit = 2;
  EXPECT_EQ(lines(shown(window)), 2);
  Filter words;
  words.reason = "ended,";
  EXPECT_EQ(lines(shown(words)), 1);
  Filter last;
  last.last = 1;
  EXPECT_THAT(shown(last), HasSubstr("round_closed"));
  Filter injected;
  injected.actor = "x' OR '1'='1";
  EXPECT_EQ(shown(injected), "");
}

TEST_F(LogTest, PerfettoIsValidInOrderAndItsArrowsArePaired) {
  const auto text = said([&](const Out& out) { return write_perfetto(*log, {}, out); });
  const auto json = Json::parse(text, nullptr, false);
  ASSERT_TRUE(json.is_object()) << text;
  double before = -1;
  std::map<int, std::pair<int, int>> arrows;
  std::set<std::string> names;
  for (const auto& event : json["traceEvents"]) {
    EXPECT_GE(event["ts"].get<double>(), before);
    before = event["ts"].get<double>();
    if (event["ph"] == "s") ++arrows[event["id"].get<int>()].first;
    if (event["ph"] == "f") ++arrows[event["id"].get<int>()].second;
    if (event["ph"] == "M") names.insert(event["args"]["name"].get<std::string>());
  }
  EXPECT_EQ(arrows.size(), 8U);
  for (const auto& [id, ends] : arrows) EXPECT_EQ(ends, std::pair(1, 1)) << id;
  EXPECT_TRUE(names.contains(awkward)) << "names survive as they are";
  EXPECT_TRUE(names.contains("w1 device"));
}

TEST_F(LogTest, CsvQuotesWhatMustBe) {
  const auto text = said([&](const Out& out) { return write_csv(*log, {}, out); });
  EXPECT_THAT(text, HasSubstr("\"g\"\"0\"\"\n\xe2\x82\xac <b>\""));
  EXPECT_THAT(text, HasSubstr("\"w2: its \"\"actor\"\" ended,\nbadly\""));
  EXPECT_EQ(text.substr(0, 10), "at_s,wall,");
}

TEST_F(LogTest, TheTimelineIsOnePageInWhichNoNameCanEndItsScript) {
  const auto text =
      said([&](const Out& out) { return write_timeline(*log, "run </title><script>", "", out); });
  EXPECT_THAT(text, Not(HasSubstr("http")));
  EXPECT_THAT(text, HasSubstr("run &lt;/title&gt;"));
  EXPECT_THAT(text, Not(HasSubstr("<b>")));
  const auto script = text.find("<script>const DATA");
  ASSERT_NE(script, std::string::npos);
  EXPECT_EQ(text.find("</script>", script), text.rfind("</script>")) << "it ends where the page says";
}

TEST_F(LogTest, ALogDiffersFromAnotherAtTheFirstMessageThatDoes) {
  bool same = false;
  const auto with_itself = said([&](const Out& out) -> Status {
    const auto result = diff(*log, *log, out);
    same = result && *result;
    return {};
  });
  EXPECT_TRUE(same) << with_itself;
}

TEST(Text, IsJsonWhateverItIs) {
  for (const std::string text :
       {"plain", "\"\\\n\t\x01", "\xff\xfe half \xe2\x82", "\xe2\x82\xac </script>", ""}) {
    const auto json = Json::parse(json_text(text), nullptr, false);
    ASSERT_TRUE(json.is_string()) << text;
  }
  EXPECT_EQ(Json::parse(json_text("\xe2\x82\xac\n\"")).get<std::string>(), "\xe2\x82\xac\n\"");
  EXPECT_EQ(json_text("</"), "\"\\u003c/\"");
}

}  // namespace
}  // namespace thalweg::log
