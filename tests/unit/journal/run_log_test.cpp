#include "runtime/journal/run_log.hpp"

#include "runtime/journal/journal.hpp"
#include "runtime/journal/segments.hpp"
#include "tests/support/temp_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace thalweg::journal {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint64_t from_node(std::uint64_t node, std::uint64_t actor, std::uint64_t number) {
  return node << 48 | actor << 36 | number;
}

/// A node that handled a message of each number from `begin` on, sent by node 1's actor 2.
void write_node(const std::filesystem::path& folder, const std::string& name, int number, std::uint64_t begin,
                std::uint64_t count) {
  Journal::Options options;
  options.folder = folder;
  options.node = name;
  options.meta = {
      {"name", name}, {"node", std::to_string(number)}, {"incarnation", "77"}, {"run", "abc"}, {"term", "1"}};
  options.kind_of = [](unsigned) { return "contribution"; };
  auto journal = Journal::open(std::move(options));
  ASSERT_TRUE(journal.ok());
  (*journal)->name(2, "w" + std::to_string(number));
  for (std::uint64_t i = begin; i < begin + count; ++i) {
    Record record;
    record.actor = 2;
    record.kind = 1;
    record.incarnation = 77;
    record.hlc = (1'000'000 + i) << 12;
    record.id = from_node(1, 2, i);
    record.cause = from_node(1, 2, i - 1);
    (*journal)->add(record);
  }
}

std::string first(const RunLog& log, const std::string& sql) {
  auto asked = log.prepare(sql);
  if (!asked) return asked.error().text;
  const auto row = asked->step();
  return row && *row ? asked->text(0) : "nothing";
}

TEST(RunLog, TakesAllNodesTogetherInTheOrderOfTheirClock) {
  const TempFolder folder;
  write_node(folder.path() / "log", "root", 0, 100, 10);
  write_node(folder.path() / "log", "node-1", 1, 50, 10);
  auto log = RunLog::open(folder.path());
  ASSERT_TRUE(log.ok()) << log.error().text;
  EXPECT_THAT(log->warnings(), IsEmpty());
  EXPECT_EQ(first(*log, "SELECT count(*) FROM log"), "20");
  EXPECT_EQ(first(*log, "SELECT node FROM log ORDER BY hlc"), "node-1");
  EXPECT_EQ(first(*log, "SELECT sender FROM log WHERE node = 'root'"), "w1")
      << "by the id's node and incarnation";
  EXPECT_EQ(first(*log, "SELECT id FROM log WHERE node = 'root' ORDER BY hlc"), "n1.a2.100");
  EXPECT_EQ(first(*log, "SELECT max(at_s) FROM log"), "5.9e-05");
}

TEST(RunLog, TakesInOnlyWhatIsNew) {
  const TempFolder folder;
  write_node(folder.path(), "root", 0, 1, 5);
  auto log = RunLog::open(folder.path());
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(first(*log, "SELECT count(*) FROM log"), "5");
  write_node(folder.path(), "root", 0, 10, 5);
  ASSERT_TRUE(log->refresh().ok());
  EXPECT_EQ(first(*log, "SELECT count(*) FROM log"), "10");
  ASSERT_TRUE(log->refresh().ok());
  EXPECT_EQ(first(*log, "SELECT count(*) FROM log"), "10");
  const auto again = RunLog::open(folder.path());
  EXPECT_EQ(first(*again, "SELECT count(*) FROM log"), "10");
}

TEST(RunLog, ReadsOneFileWithoutLeavingAnythingBesideIt) {
  const TempFolder folder;
  write_node(folder.path(), "root", 0, 1, 5);
  const auto log = RunLog::open(segment_path(folder.path(), "root", 1));
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(first(*log, "SELECT count(*) FROM log"), "5");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "index.db"));
}

TEST(RunLog, SaysWhichFilesItCannotReadAndReadsTheOthers) {
  const TempFolder folder;
  write_node(folder.path(), "root", 0, 1, 5);
  folder.write("junk-001.sqlite", "this is no database at all, though it is long enough to look like one");
  folder.write("empty-001.sqlite", "");
  // Cut off in the middle, as by a full disk.
  std::ifstream whole(segment_path(folder.path(), "root", 1), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(whole), {}};
  folder.write("torn-001.sqlite", bytes.substr(0, bytes.size() / 2 + 100));
  const auto log = RunLog::open(folder.path());
  ASSERT_TRUE(log.ok()) << log.error().text;
  EXPECT_EQ(first(*log, "SELECT count(*) FROM log WHERE node = 'root'"), "5");
  EXPECT_THAT(log->warnings(), SizeIs(3));
  for (const auto& warning : log->warnings()) EXPECT_THAT(warning, HasSubstr("cannot be read")) << warning;
}

TEST(RunLog, MakesABrokenIndexAgain) {
  const TempFolder folder;
  write_node(folder.path(), "root", 0, 1, 5);
  ASSERT_TRUE(RunLog::open(folder.path()).ok());
  folder.write("index.db", std::string(9000, 'x'));
  const auto log = RunLog::open(folder.path());
  ASSERT_TRUE(log.ok()) << log.error().text;
  EXPECT_EQ(first(*log, "SELECT count(*) FROM log"), "5");
}

TEST(RunLog, ExplainsWhenThereIsNone) {
  const TempFolder folder;
  EXPECT_THAT(RunLog::open(folder.path()).error().text, HasSubstr("holds no message log"));
  EXPECT_EQ(RunLog::open(folder.path() / "nowhere").error().code, ErrorCode::not_found);
}

TEST(RunLog, CanBeClosedToChanges) {
  const TempFolder folder;
  write_node(folder.path(), "root", 0, 1, 5);
  auto log = RunLog::open(folder.path());
  ASSERT_TRUE(log->forbid_writing().ok());
  auto asked = log->prepare("DELETE FROM records");
  ASSERT_TRUE(asked.ok());
  EXPECT_FALSE(asked->step().ok());
  EXPECT_EQ(first(*log, "SELECT count(*) FROM log"), "5");
}

TEST(MessageNumber, IsWhatWasPrinted) {
  EXPECT_EQ(message_number("n3.a17.912"), static_cast<std::int64_t>(from_node(3, 17, 912)));
  EXPECT_EQ(message_number("n65535.a4095.68719476735"), -1);
  for (const char* wrong :
       {"", "n3", "n3.a17", "n3.a17.", "3.17.912", "n65536.a1.1", "n3.a17.912x", "n-3.a17.912"}) {
    EXPECT_FALSE(message_number(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace thalweg::journal
