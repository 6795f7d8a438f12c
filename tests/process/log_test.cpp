#include "tests/process/small_job.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temp_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

/// Runs that something happens to, and what `thalweg log` says of it, from the log alone.
namespace thalweg::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class LogQuestions : public ::testing::Test {
 protected:
  Finished run(const std::vector<std::string>& arguments) {
    return run_program(arguments, {.folder = folder.path()});
  }
  /// What `thalweg log` answers; it must.
  std::string ask(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "log");
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.out;
  }
  void train(const std::vector<std::string>& more) {
    std::vector<std::string> job = small_job("out", {"--workers", "4", "--groups", "2", "--quiet"});
    job.insert(job.end(), more.begin(), more.end());
    const Finished finished = run(job);
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
  }

  TempFolder folder;
};

TEST_F(LogQuestions, AreAnsweredOfARunThatEnded) {
  train({});
  const std::string list = ask({"ls", "out"});
  for (const char* actor : {"root  root ", "root  g0 ", "root  w3 ", "root  feeder ", "root  scheduler "}) {
    EXPECT_THAT(list, HasSubstr(actor));
  }
  // Every contribution that a worker sends is there, twice 2048 samples of them.
  EXPECT_THAT(ask({"sql", "out",
                   "SELECT sum(samples) FROM messages WHERE kind = 'contribution' AND sender LIKE 'w%'"}),
              HasSubstr("\n4096\n"));
  std::istringstream first(
      ask({"show", "out", "--kind", "contribution", "--actor", "root", "--limit", "1", "--json"}));
  const Json contribution = Json::parse(first, nullptr, false);
  ASSERT_TRUE(contribution.is_object());
  EXPECT_EQ(contribution["round"], 0);
  const std::string trace = ask({"trace", "out", contribution["id"].get<std::string>()});
  EXPECT_THAT(trace, HasSubstr("-> root contribution"));
  EXPECT_THAT(trace, HasSubstr("committed"));
  EXPECT_THAT(ask({"why", "out", "--round", "5"}), HasSubstr("round 5 took "));
  EXPECT_THAT(ask({"why", "out", "--iteration", "9"}), HasSubstr("round 2 took "))
      << "four iterations a round";
  EXPECT_THAT(ask({"why", "out", "--now"}), HasSubstr("nothing waits: the run has ended"));
  EXPECT_THAT(ask({"stats", "out"}), HasSubstr("staleness (versions: iterations): 0: "));
  ask({"timeline", "out", "--output", "page.html"});
  EXPECT_THAT(bytes_of(folder.path() / "page.html"),
              HasSubstr("const DATA={lanes:[\"root/root\",\"root/g0\""));
  ask({"export", "out", "--perfetto", "trace.json"});
  EXPECT_TRUE(Json::parse(bytes_of(folder.path() / "trace.json"), nullptr, false).is_object());
}

TEST_F(LogQuestions, AStragglerIsNamed) {
  train({"--set", "emulate.step=2ms", "--set", "emulate.slow.w3=5"});
  EXPECT_THAT(ask({"why", "out", "--round", "10"}), HasSubstr("w3 is slow: it computed for "));
  EXPECT_THAT(ask({"stats", "out"}), HasSubstr("w3 is a straggler: its steps take "));
}

TEST_F(LogQuestions, ASlowLinkIsNamed) {
  train({"--set", "emulate.delay_ms=20", "--set", "stop.max_samples=640"});
  const std::string why = ask({"why", "out", "--round", "5"});
  EXPECT_THAT(why, ::testing::ContainsRegex(
                       "the [a-z_]+ of (root|g[01]) to (root|g[01]|scheduler) was under way for 2[0-9]\\."));
  EXPECT_THAT(why, Not(HasSubstr(" is slow")));
}

TEST_F(LogQuestions, AreAnsweredOfARunOfWhichEveryProcessWasKilled) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  std::vector<std::string> job = small_job("out", {"--workers", "4", "--groups", "2", "--epochs", "1000000"});
  job[0] = "launch";
  Process launcher(job, {.folder = folder.path()});
  ASSERT_TRUE(launcher.wait_for_err("epoch 3: test accuracy"));
  launcher.send(SIGKILL);  // its children go with it
  EXPECT_EQ(launcher.wait().exit_code, 128 + SIGKILL);
  while (::waitpid(-1, nullptr, 0) > 0) {
  }
  const std::string list = ask({"ls", "out"});
  for (const char* node : {"root ", "node-1 ", "node-2 ", "node-3 ", "node-4 "})
    EXPECT_THAT(list, HasSubstr(node));
  EXPECT_THAT(ask({"why", "out", "--now"}), HasSubstr("at the end of the log, "));
  const std::string why = ask({"why", "out", "--round", "40"});
  EXPECT_THAT(why, HasSubstr("round 40 took "));
  EXPECT_THAT(why, HasSubstr("step_done")) << "the path crosses processes";
  ask({"timeline", "out", "--output", "page.html"});
  ask({"export", "out", "--csv", "all.csv"});
  EXPECT_GT(bytes_of(folder.path() / "all.csv").size(), 10'000U);
}

TEST_F(LogQuestions, TellTheSameRunFromAnother) {
  train({"--set", "stop.max_samples=192"});
  EXPECT_THAT(ask({"diff", "out", "out"}), HasSubstr("the same messages"));
}

TEST_F(LogQuestions, ThatAreNoneAreExplained) {
  train({"--set", "stop.max_samples=128", "--set", "log.level=off"});
  const auto expect = [&](const std::vector<std::string>& arguments, int code, const std::string& message) {
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.exit_code, code) << message;
    EXPECT_THAT(finished.err, HasSubstr(message));
  };
  expect({"log", "ls", "out"}, 1, "out: holds no message log");
  expect({"log", "ls", "nowhere"}, 1, "nowhere: no such folder or log file");
  expect({"log", "why", "out"}, 1, "holds no message log");
  expect({"log", "sho", "out"}, 2, "did you mean show?");
  expect({"log", "trace", "out"}, 2, "log trace needs a RUN and a MESSAGE");
  std::filesystem::create_directory(folder.path() / "log");
  folder.write("log/root-001.sqlite", "this is no database");
  expect({"log", "ls", "."}, 0, "root-001.sqlite");
}

}  // namespace
}  // namespace thalweg::testing
