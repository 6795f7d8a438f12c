#include "tools/launch/launcher.hpp"

#include "tests/support/temp_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/// The launcher's loop over real processes: shells in the place of the root and its nodes. A root is told by
/// its file `address`, "PID ADDRESS".
namespace thalweg::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string listen = "echo \"$$ here:1\" > partial; mv partial address; ";

class LauncherTest : public ::testing::Test {
 protected:
  void SetUp() override {
    crew.folder = folder.path();
    crew.address = [this](pid_t root) -> std::optional<std::string> {
      std::ifstream in(folder.path() / "address");
      pid_t process = 0;
      std::string address;
      if (in >> process >> address && process == root) return address;
      return std::nullopt;
    };
    crew.say = [this](std::string_view line) { lines.emplace_back(line); };
  }

  /// A shell in the folder of the test.
  [[nodiscard]] Command shell(const std::string& script, const std::string& output = "") const {
    const std::string there = "cd " + folder.path().string() + "; ";
    return {"/bin/sh", {"-c", there + script}, output.empty() ? "" : folder.path() / output};
  }
  void add_node(const std::string& script) {
    const std::string name = "node-" + std::to_string(crew.nodes.size() + 1);
    crew.nodes.push_back({name, [this, script, name](const std::string& address) {
                            return shell("ADDRESS=" + address + "; " + script, name + ".txt");
                          }});
  }
  int launch(OversightOptions options = {}) {
    const Result<int> code = run(crew, std::move(options));
    EXPECT_TRUE(code) << code.error().text;
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "no child is left";
    return code ? *code : -1;
  }
  [[nodiscard]] std::string text_of(const std::string& file) const { return bytes_of(folder.path() / file); }

  TempFolder folder;
  Crew crew;
  std::vector<std::string> lines;
};

TEST_F(LauncherTest, NodesStartAtTheRootsAddressAndItsCodeIsTheResult) {
  // Each node leaves a mark that the root waits for, by reading a pipe.
  crew.root = shell("mkfifo marks; " + listen + "exec 3<>marks; read one <&3; read two <&3; exit 7");
  for (int node = 0; node < 2; ++node) add_node("echo joined $ADDRESS; echo mark > marks");
  EXPECT_EQ(launch(), 7);
  EXPECT_EQ(text_of("node-1.txt"), "joined here:1\n");
  EXPECT_EQ(text_of("node-2.txt"), "joined here:1\n");
  EXPECT_THAT(lines, IsEmpty());
}

TEST_F(LauncherTest, ANodeThatIsKilledIsStartedAgainAndWritesOnInItsFile) {
  crew.root = shell("mkfifo marks; " + listen + "exec 3<>marks; read one <&3");
  add_node("echo started; if [ -e second ]; then echo mark > marks; else touch second; kill -9 $$; fi");
  EXPECT_EQ(launch(), 0);
  EXPECT_EQ(text_of("node-1.txt"), "started\nstarted\n");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], ::testing::MatchesRegex("node-1 \\(pid [0-9]+\\) was killed by signal 9: starting it "
                                                "again in 1 s \\(1 of 10\\)"));
}

TEST_F(LauncherTest, ARootThatIsKilledIsStartedAgainAtItsAddress) {
  crew.root = shell("mkfifo marks; " + listen + "exec 3<>marks; read one <&3; kill -9 $$");
  crew.root_again = [this](const std::string& address) {
    return shell("echo " + address + " > again; " + listen + "exec 3<>marks; echo over >&3; exit 0");
  };
  add_node("echo mark > marks; exec sleep 100");
  EXPECT_EQ(launch({.node_patience = std::chrono::seconds(0)}), 0);
  EXPECT_EQ(text_of("again"), "here:1\n");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("the root (pid "));
}

TEST_F(LauncherTest, WithoutRestartsLeftAllEnd) {
  crew.root = shell("trap 'exit 143' TERM; " + listen + "while :; do sleep 0.05; done");
  add_node("exit 1");
  add_node("exec sleep 100");
  EXPECT_EQ(launch({.restarts = 0, .logs = "logs", .node_patience = std::chrono::seconds(0)}), 1);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0],
              HasSubstr("ended with exit code 1: it was started again 0 times: the run ends; see logs"));
}

TEST_F(LauncherTest, ASignalEndsTheRootFirst) {
  crew.root = shell("trap 'echo root > order; exit 143' TERM; " + listen + "while :; do sleep 0.05; done");
  // The parent of every process here is the launcher, that is, this test.
  add_node("trap 'echo node >> order; exit 143' TERM; kill -INT $PPID; while :; do sleep 0.05; done");
  EXPECT_EQ(launch({.node_patience = std::chrono::seconds(1)}), 130);
  EXPECT_EQ(text_of("order"), "root\nnode\n");
  EXPECT_THAT(lines, IsEmpty());
}

TEST_F(LauncherTest, WhoDoesNotEndIsKilled) {
  crew.root = shell("trap '' TERM; " + listen + "while :; do sleep 0.05; done");
  add_node("trap '' TERM; kill -TERM $PPID; while :; do sleep 0.05; done");
  EXPECT_EQ(launch({.root_patience = std::chrono::seconds(1), .node_patience = std::chrono::seconds(1)}),
            137);
}

TEST_F(LauncherTest, ATerminalsSignalsAreTheLaunchersAffair) {
  crew.root = shell("kill -INT $$; kill -HUP $$; exit 5");
  EXPECT_EQ(launch(), 5);
}

TEST_F(LauncherTest, WhatCannotBeRunOrWatchedIsSaid) {
  crew.root = {"/nowhere/thalweg", {}, {}};
  EXPECT_EQ(launch(), 1);
  EXPECT_THAT(lines, ElementsAre("cannot run /nowhere/thalweg: No such file or directory"));
  crew.folder = "/nowhere";
  const Result<int> code = run(crew, {});
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().text, "cannot watch /nowhere: No such file or directory");
}

/// Waits until the process has ended; `false`: it had not after ten seconds.
bool ends(pid_t process) {
  const int fd = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
  if (fd < 0) return errno == ESRCH;
  pollfd waited{fd, POLLIN, 0};
  const bool ended = ::poll(&waited, 1, 10'000) == 1;
  ::close(fd);
  return ended;
}

TEST_F(LauncherTest, NobodyOutlivesALauncherThatIsKilled) {
  // What the launcher leaves behind becomes this process's, which can then wait for it.
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  for (const char* name : {"root.pid", "node.pid"})
    ASSERT_EQ(::mkfifo((folder.path() / name).c_str(), 0600), 0);
  crew.root = shell("trap '' TERM; " + listen + "echo $$ > root.pid; exec sleep 100");
  add_node("echo $$ > node.pid; exec sleep 100");
  const pid_t launcher = ::fork();
  ASSERT_GE(launcher, 0);
  if (launcher == 0) {
    (void)run(crew, {});
    _exit(0);
  }
  std::vector<pid_t> processes;
  for (const char* name : {"root.pid", "node.pid"}) {
    std::ifstream written(folder.path() / name);  // opens when somebody writes
    ASSERT_TRUE(written >> processes.emplace_back());
  }
  ::kill(launcher, SIGKILL);
  ASSERT_EQ(::waitpid(launcher, nullptr, 0), launcher);
  for (const pid_t process : processes) {
    EXPECT_TRUE(ends(process)) << process;
    ::waitpid(process, nullptr, 0);
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace
}  // namespace thalweg::launch
