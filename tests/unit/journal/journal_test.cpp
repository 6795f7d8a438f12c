#include "runtime/journal/journal.hpp"

#include "runtime/journal/database.hpp"
#include "runtime/journal/ring.hpp"
#include "runtime/journal/segments.hpp"
#include "tests/support/temp_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace thalweg::journal {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using namespace std::chrono_literals;

Record record(std::uint64_t number) {
  Record made;
  made.actor = 3;
  made.kind = 1;
  made.hlc = number << 12;
  made.id = number;
  made.numbers.round = static_cast<std::int64_t>(number);
  made.sentence = "closes round {}: all {} members are in";
  made.arguments = {number, 2};
  return made;
}

std::int64_t count(const std::filesystem::path& file, const std::string& what = "count(*)") {
  auto database = Database::open(file, Database::Mode::read);
  EXPECT_TRUE(database.ok());
  auto asked = database->prepare("SELECT " + what + " FROM records");
  EXPECT_TRUE(asked.ok()) << asked.error().text;
  EXPECT_TRUE(asked->step().ok());
  return asked->integer(0);
}

TEST(Ring, GivesRecordsBackInOrderAndCountsWhatDoesNotFit) {
  Ring ring;
  for (std::uint64_t i = 0; i < Ring::capacity; ++i) ASSERT_TRUE(ring.push(record(i)));
  EXPECT_FALSE(ring.push(record(7)));
  EXPECT_FALSE(ring.push(record(8)));
  std::uint64_t next = 0;
  EXPECT_EQ(ring.drain([&](const Record& each) { EXPECT_EQ(each.id, next++); }), Ring::capacity);
  EXPECT_EQ(ring.take_lost(), 2U);
  EXPECT_EQ(ring.take_lost(), 0U);
  EXPECT_TRUE(ring.push(record(9)));
}

TEST(Ring, LosesNothingBetweenTwoThreads) {
  Ring ring;
  constexpr std::uint64_t all = 200'000;
  std::thread producer([&] {
    for (std::uint64_t i = 0; i < all;) {
      if (ring.push(record(i))) ++i;
    }
  });
  std::uint64_t next = 0;
  while (next < all) ring.drain([&](const Record& each) { ASSERT_EQ(each.id, next++); });
  producer.join();
  EXPECT_EQ(next, all);
}

TEST(Record, SaysItsReasonWithItsNumbers) {
  EXPECT_EQ(reason_of(record(12)), "closes round 12: all 2 members are in");
  EXPECT_EQ(reason_of(Record()), "");
}

TEST(Journal, WritesWhatItIsGivenFromManyThreads) {
  const TempFolder folder;
  {
    Journal::Options options;
    options.folder = folder.path() / "log";
    options.node = "root";
    options.meta = {{"node", "0"}};
    options.kind_of = [](unsigned kind) { return "kind " + std::to_string(kind); };
    auto journal = Journal::open(std::move(options));
    ASSERT_TRUE(journal.ok()) << journal.error().text;
    (*journal)->name(3, "g1");
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (std::uint64_t k = 0; k < 1000; ++k) (*journal)->add(record(k));
      });
    }
    for (auto& thread : threads) thread.join();
    (*journal)->add(record(5), "the device fell off the bus");
    EXPECT_EQ((*journal)->failure(), "");
  }
  const auto file = folder.path() / "log" / "root-001.sqlite";
  EXPECT_EQ(count(file), 4001);
  EXPECT_EQ(count(file, "count(DISTINCT id)"), 1000);
  EXPECT_EQ(count(file, "sum(reason = 'the device fell off the bus')"), 1);
  EXPECT_EQ(count(file, "sum(reason = 'closes round 999: all 2 members are in')"), 4);
  auto database = Database::open(file, Database::Mode::read);
  auto asked = database->prepare("SELECT actor, kind, id, round FROM messages LIMIT 1");
  ASSERT_TRUE(asked.ok()) << asked.error().text;
  ASSERT_TRUE(asked->step().ok());
  EXPECT_EQ(asked->text(0), "g1");
  EXPECT_EQ(asked->text(1), "kind 1");
  EXPECT_EQ(asked->text(2), "n0.a0.0");
  EXPECT_EQ(asked->text(3), "0");
}

TEST(Journal, KeepsToItsSpaceByLettingTheOldestGo) {
  const TempFolder folder;
  {
    Journal::Options options;
    options.folder = folder.path();
    options.node = "w";
    options.segment_bytes = 200'000;
    options.bytes_max = 600'000;
    options.flush = 1ms;
    auto journal = Journal::open(std::move(options));
    ASSERT_TRUE(journal.ok());
    for (std::uint64_t k = 0; k < 40'000; ++k) {
      (*journal)->add(record(k));
      if (k % 1000 == 0) std::this_thread::sleep_for(2ms);
    }
    const auto until = std::chrono::steady_clock::now() + 20s;
    while ((*journal)->counts().segments_removed == 0 && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(1ms);
    }
    EXPECT_GT((*journal)->counts().segments_removed, 0U);
  }
  const auto left = segments_in(folder.path(), "w");
  ASSERT_FALSE(left.empty());
  EXPECT_GT(left.front().number, 1U) << "the oldest went";
  std::uintmax_t bytes = 0;
  for (const auto& segment : left) bytes += std::filesystem::file_size(segment.file);
  // What was asked for, the file being written, and what one full ring holds.
  EXPECT_LE(bytes, 600'000U + 200'000U + 200 * Ring::capacity);
}

TEST(Journal, GoesOnWithANewFileWhereAnEarlierProcessStopped) {
  const TempFolder folder;
  for (int life = 1; life <= 2; ++life) {
    Journal::Options options;
    options.folder = folder.path();
    options.node = "root";
    auto journal = Journal::open(std::move(options));
    ASSERT_TRUE(journal.ok());
    (*journal)->add(record(1));
  }
  EXPECT_THAT(segments_in(folder.path()), SizeIs(2));
}

TEST(Journal, SaysHowManyRecordsItHasLost) {
  const TempFolder folder;
  {
    Journal::Options options;
    options.folder = folder.path();
    options.node = "root";
    options.flush = 200ms;
    auto journal = Journal::open(std::move(options));
    ASSERT_TRUE(journal.ok());
    for (std::uint64_t k = 0; k < 20 * Ring::capacity; ++k) (*journal)->add(record(k));
  }
  const auto file = segment_path(folder.path(), "root", 1);
  const auto lost = count(file, "coalesce(sum(CASE WHEN type = 5 THEN samples END), 0)");
  EXPECT_EQ(count(file, "sum(type = 1)") + lost, static_cast<std::int64_t>(20 * Ring::capacity));
}

TEST(Journal, IsThereAfterItsProcessWasKilled) {
  const TempFolder folder;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Journal::Options options;
    options.folder = folder.path();
    options.node = "root";
    auto journal = Journal::open(std::move(options));
    if (!journal) _exit(1);
    for (std::uint64_t k = 0; k < 100; ++k) (*journal)->add(record(k));
    std::this_thread::sleep_for(500ms);
    [[maybe_unused]] const auto told = ::write(ready[1], "x", 1);
    ::pause();
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ::close(ready[0]);
  ::close(ready[1]);
  EXPECT_EQ(count(segment_path(folder.path(), "root", 1)), 100);
}

TEST(Journal, RefusesAFolderThatCannotBe) {
  const TempFolder folder;
  folder.write("taken", "a file");
  Journal::Options options;
  options.folder = folder.path() / "taken" / "log";
  options.node = "root";
  const auto journal = Journal::open(std::move(options));
  ASSERT_FALSE(journal.ok());
  EXPECT_EQ(journal.error().code, ErrorCode::io);
  EXPECT_THAT(journal.error().text, HasSubstr("cannot make "));
}

TEST(Segments, AreKnownByTheirNames) {
  const TempFolder folder;
  for (const char* name :
       {"node-1-002.sqlite", "node-1-010.sqlite", "root-001.sqlite", "index.db", "x.sqlite", "-1.sqlite"}) {
    folder.write(name, "");
  }
  const auto all = segments_in(folder.path());
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_EQ(all[1].number, 10U);
  EXPECT_EQ(all[2].node, "root");
  EXPECT_EQ(node_file_name("a host:7/x"), "a_host_7_x");
}

}  // namespace
}  // namespace thalweg::journal
