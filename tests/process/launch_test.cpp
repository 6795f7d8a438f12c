#include "tests/process/small_job.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temp_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ifaddrs.h>
#include <poll.h>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

/// Runs of several processes on this machine: that they train, that killed ones come back, and that none is
/// left behind. What a launcher leaves behind would become this process's child, and show.
namespace thalweg::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

constexpr int reaped_within_ms = 10'000;
constexpr int reap_every_ms = 10;
constexpr std::size_t reaps_max = 1000;

/// The processes that `parent` has started and not yet reaped.
std::vector<pid_t> children_of(pid_t parent) {
  const std::string process = std::to_string(parent);
  std::ifstream in("/proc/" + process + "/task/" + process + "/children");
  std::vector<pid_t> children;
  for (pid_t child = 0; in >> child;) children.push_back(child);
  return children;
}

/// The launcher's node of this name; 0: there is none.
pid_t node_of(pid_t launcher, const std::string& name) {
  for (const pid_t child : children_of(launcher)) {
    const std::string typed = bytes_of("/proc/" + std::to_string(child) + "/cmdline");
    if (typed.find("--join") != std::string::npos && typed.find(name) != std::string::npos) return child;
  }
  return 0;
}

/// Waits for a process that became this one's child.
bool ends(pid_t process) {
  const int fd = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
  if (fd < 0) return errno == ESRCH;
  pollfd waited{fd, POLLIN, 0};
  const bool ended = ::poll(&waited, 1, reaped_within_ms) == 1;
  ::close(fd);
  if (ended) ::waitpid(process, nullptr, 0);
  return ended;
}

/// An IPv4 address of this machine that is not loopback; empty: it has none.
std::string own_address() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return "";
  std::string found;
  for (const ifaddrs* each = all; each != nullptr && found.empty(); each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    char text[INET_ADDRSTRLEN] = "";
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr, text, sizeof text);
    if (std::string(text).rfind("127.", 0) != 0) found = text;
  }
  ::freeifaddrs(all);
  return found;
}

class LaunchTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0); }
  void TearDown() override {
    // Those of a launcher that a test killed at its time limit are no concern of the next test.
    std::size_t left = 0;
    for (pid_t process = 0; (process = ::waitpid(-1, nullptr, WNOHANG)) >= 0; ++left) {
      if (process == 0) ::poll(nullptr, 0, reap_every_ms);
      if (left > reaps_max) break;
    }
    EXPECT_EQ(left, 0U) << "a process is left behind";
  }

  /// Two groups of two workers.
  static std::vector<std::string> job(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = small_job("out", {"--workers", "4", "--groups", "2"});
    arguments[0] = "launch";
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  /// As long as it takes for something to happen to it, in seconds.
  static std::vector<std::string> long_job(const std::string& max_time) {
    return job({"--epochs", "1000000", "--set", "stop.max_time=" + max_time, "--set", "checkpoint.every=20"});
  }
  Finished run(const std::vector<std::string>& arguments) {
    return run_program(arguments, {.folder = folder.path()});
  }
  void expect_refused(const std::vector<std::string>& arguments, int exit_code, const std::string& message) {
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.exit_code, exit_code) << message;
    EXPECT_THAT(finished.err, HasSubstr(message));
    EXPECT_EQ(finished.out, "") << message;
  }
  /// The first of four nodes that has said so; empty: none.
  [[nodiscard]] std::string who_said(const std::string& text) const {
    for (const char* name : {"node-1", "node-2", "node-3", "node-4"}) {
      const auto said = bytes_of(folder.path() / "out/log" / (std::string(name) + ".txt"));
      if (said.find(text) != std::string::npos) return name;
    }
    return "";
  }
  [[nodiscard]] Json json_of(const std::string& file) const {
    return Json::parse(bytes_of(folder.path() / file), nullptr, false);
  }

  TempFolder folder;
};

TEST_F(LaunchTest, AProcessForEachWorkerTrainsAsOneProcessDoes) {
  const Finished finished = run(job({"--json"}));
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("listening on 127.0.0.1:"));
  EXPECT_THAT(finished.err, HasSubstr(": waiting for 4 workers; join with: thalweg node --join 127.0.0.1:"));
  const Json summary = Json::parse(finished.out, nullptr, false);
  EXPECT_GE(summary["accuracy"].get<double>(), 0.9);
  EXPECT_EQ(summary["end"], "done");
  EXPECT_EQ(summary["ledger"]["committed"], 2 * 2048);
  for (const char* node : {"node-1", "node-2", "node-3", "node-4"}) {
    EXPECT_THAT(bytes_of(folder.path() / "out/log" / (std::string(node) + ".txt")), HasSubstr("joined run "));
  }
  EXPECT_FALSE(json_of("out/root.json").contains("address")) << "nobody listens there any more";
  const auto mode = std::filesystem::status(folder.path() / "out/keys").permissions();
  EXPECT_EQ(mode, std::filesystem::perms::owner_all);

  // Five processes or one: the same tree gives the same bits.
  const Finished alone = run(small_job("alone", {"--workers", "4", "--groups", "2", "--quiet"}));
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  EXPECT_TRUE(bytes_of(folder.path() / "alone/model.safetensors") ==
              bytes_of(folder.path() / "out/model.safetensors"));
}

TEST_F(LaunchTest, EveryMethodTrainsInSeveralProcesses) {
  for (const char* method :
       {"asp", "ssp(2)", "nsoftsync(2)", "inhad(1)", "dcasgd", "local_sgd(2)", "flsgd(2)", "diloco(2)"}) {
    auto arguments = small_job(method, {"--workers", "4", "--groups", "2", "--workers-per-node", "2",
                                        "--json", "--momentum", "0", "--method", method});
    arguments[0] = "launch";
    const Finished finished = run(arguments);
    ASSERT_EQ(finished.exit_code, 0) << method << ": " << finished.err;
    const Json summary = Json::parse(finished.out, nullptr, false);
    EXPECT_EQ(summary["end"], "done") << method;
    EXPECT_EQ(summary["ledger"]["committed"], 2 * 2048) << method;
    EXPECT_EQ(summary["ledger"]["repeated"], 0) << method;
  }
}

TEST_F(LaunchTest, WorkersMayShareAProcess) {
  const Finished finished = run(job({"--workers-per-node", "3", "--quiet"}));
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "out/log/node-2.txt"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "out/log/node-3.txt"));
}

TEST_F(LaunchTest, ANodeThatIsKilledComesBackWhileTheRunGoesOn) {
  Process launcher(long_job("12s"), {.folder = folder.path()});
  ASSERT_TRUE(launcher.wait_for_err("epoch 1: test accuracy"));
  // One that leads nobody: what takes its place belongs below a leader on another node.
  const pid_t node = node_of(launcher.pid(), who_said("hosts w"));
  ASSERT_NE(node, 0);
  ::kill(node, SIGKILL);
  EXPECT_TRUE(launcher.wait_for_err("(pid " + std::to_string(node) +
                                    ") was killed by signal 9: starting it again in 1 s (1 of 10)"));
  const Finished finished = launcher.wait();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr(" is lost: "));
  EXPECT_THAT(finished.err, HasSubstr(" has joined: "));
  EXPECT_GE(json_of("out/summary.json")["accuracy"].get<double>(), 0.9);
}

TEST_F(LaunchTest, ALeaderThatIsKilledIsReplaced) {
  auto arguments = long_job("8s");
  arguments.emplace_back("--json");
  Process launcher(arguments, {.folder = folder.path()});
  ASSERT_TRUE(launcher.wait_for_err("epoch 1: test accuracy"));
  const pid_t leader = node_of(launcher.pid(), who_said("hosts g0"));
  ASSERT_NE(leader, 0);
  ::kill(leader, SIGKILL);
  const Finished finished = launcher.wait();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_NE(who_said("hosts g2, w4"), "")
      << "the survivor of the group leads it, and is a worker with a new number";
  const Json summary = Json::parse(finished.out, nullptr, false);
  EXPECT_GE(summary["accuracy"].get<double>(), 0.9);
  EXPECT_EQ(summary["ledger"]["repeated"], 0);
}

TEST_F(LaunchTest, ARootThatIsKilledGoesOnFromWhatItsNodesHold) {
  auto arguments = long_job("8s");
  // The root itself would begin anew.
  arguments.insert(arguments.end(), {"--set", "checkpoint.every=1000000"});
  Process launcher(arguments, {.folder = folder.path()});
  ASSERT_TRUE(launcher.wait_for_err("epoch 3: test accuracy"));
  const auto root = json_of("out/root.json")["pid"].get<pid_t>();
  auto nodes = children_of(launcher.pid());
  std::erase(nodes, root);
  ::kill(root, SIGKILL);
  EXPECT_TRUE(launcher.wait_for_err("was killed by signal 9: starting it again in 1 s (1 of 10)"));
  EXPECT_TRUE(launcher.wait_for_err("training begins at version 0"));
  EXPECT_TRUE(launcher.wait_for_err("which is newer than 0: the run is to go on from it"));
  EXPECT_TRUE(launcher.wait_for_err("goes on from version "));
  auto now = children_of(launcher.pid());
  std::erase(now, json_of("out/root.json")["pid"].get<pid_t>());
  EXPECT_EQ(now, nodes) << "the nodes have outlived their root";
  const Finished finished = launcher.wait();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  const Json summary = json_of("out/summary.json");
  EXPECT_GE(summary["resumed_from"].get<std::uint64_t>(), 3 * 2048 / 64);
  EXPECT_GE(summary["accuracy"].get<double>(), 0.9);
  EXPECT_EQ(summary["ledger"]["repeated"], 0);
  EXPECT_EQ(summary["ledger"]["committed"], summary["samples"]);
}

TEST_F(LaunchTest, ARunWithoutAnyNodeLeftWaitsForThem) {
  Process launcher(long_job("10s"), {.folder = folder.path()});
  ASSERT_TRUE(launcher.wait_for_err("epoch 1: test accuracy"));
  const auto root = json_of("out/root.json")["pid"].get<pid_t>();
  for (const pid_t child : children_of(launcher.pid())) {
    if (child != root) ::kill(child, SIGKILL);
  }
  EXPECT_TRUE(launcher.wait_for_err("paused: 0/1 workers"));
  EXPECT_TRUE(launcher.wait_for_err("goes on: 1/1 workers"));
  const Finished finished = launcher.wait();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(json_of("out/summary.json")["ledger"]["repeated"], 0);
  EXPECT_GE(json_of("out/summary.json")["accuracy"].get<double>(), 0.9);
}

TEST_F(LaunchTest, StatusSaysHowARunIs) {
  Process launcher(long_job("10m"), {.folder = folder.path()});
  ASSERT_TRUE(launcher.wait_for_err("epoch 1: test accuracy"));
  const Finished seen = run({"status", "out"});
  EXPECT_EQ(seen.exit_code, 0) << seen.err;
  EXPECT_THAT(seen.out, HasSubstr("ssgd, training, 4 workers\nversion "));
  EXPECT_THAT(seen.out, HasSubstr(" waits for "));
  const Json status = Json::parse(run({"status", "out", "--json"}).out, nullptr, false);
  ASSERT_TRUE(status.is_object());
  EXPECT_EQ(status["state"], "training");
  EXPECT_EQ(status["nodes"].size(), 4U);
  EXPECT_EQ(status["run"], json_of("out/root.json")["run"]);
  launcher.send(SIGINT);
  EXPECT_EQ(launcher.wait().exit_code, 130);
  expect_refused({"status", "out"}, 1, "out: its root does not listen");
  expect_refused({"status", "127.0.0.1:1", "--keys", "out/keys/local"}, 1, "the run's root: ");
}

TEST_F(LaunchTest, NodesOfOtherMachinesAreStartedOverSsh) {
  const std::string address = own_address();
  if (address.empty()) GTEST_SKIP() << "this machine has no address that others could reach";
  // An ssh that goes nowhere: what it is to run there runs here, in a folder that stands for the other home.
  const auto program = std::filesystem::path(std::getenv("THALWEG_PROGRAM")).parent_path().string();
  std::filesystem::create_directories(folder.path() / "bin");
  const auto ssh = folder.write("bin/ssh",
                                "#!/bin/sh\necho \"$@\" >> ssh.txt\nwhile [ \"$1\" != -- ]; do shift; done\n"
                                "shift 2\nexec sh -c \"$1\"\n");
  std::filesystem::permissions(ssh, std::filesystem::perms::owner_all);
  const ProcessOptions with_ssh{.folder = folder.path(),
                                .environment = {{"PATH", (folder.path() / "bin").string() + ":" + program +
                                                             ":" + std::getenv("PATH")}}};
  ASSERT_EQ(run({"keys", "init", "authority"}).exit_code, 0);
  for (const char* name : {"root", "other"}) {
    ASSERT_EQ(run({"keys", "node", name, "--dir", "authority"}).exit_code, 0);
  }
  std::filesystem::rename(folder.path() / "authority/other", folder.path() / "keys");
  folder.write(
      "job.toml",
      "[data]\nname = \"synthetic\"\nsamples = 2048\nclasses = 4\nnoise = 6.0\n[model]\nname = \"mlp\"\n"
      "hidden = [32]\n[train]\nlr = 0.01\nepochs = 2\n[topology]\nworkers = 2\n"
      "[[node]]\nworkers = 1\n[[node]]\nhost = \"other\"\nworkers = 1\n");
  const Finished finished = run_program({"launch", "job.toml", "--out", "out", "--set",
                                         "net.listen=" + address + ":0", "--set", "net.keys=authority/root"},
                                        with_ssh);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(bytes_of(folder.path() / "ssh.txt"),
              HasSubstr("-o BatchMode=yes -- other 'thalweg' 'node' '--join' '"));
  EXPECT_EQ(json_of("out/summary.json")["ledger"]["committed"], 2 * 2048);
}

TEST_F(LaunchTest, CtrlCSavesAndEndsWith130) {
  Process launcher(long_job("10m"), {.folder = folder.path()});
  ASSERT_TRUE(launcher.wait_for_err("epoch 1: test accuracy"));
  launcher.send(SIGINT);
  const Finished finished = launcher.wait();
  EXPECT_EQ(finished.exit_code, 130) << finished.err;
  EXPECT_THAT(finished.err, Not(HasSubstr("starting it again")));
  EXPECT_EQ(json_of("out/summary.json")["end"], "stopped");
}

TEST_F(LaunchTest, NobodyOutlivesALauncherThatIsKilled) {
  Process launcher(long_job("10m"), {.folder = folder.path()});
  ASSERT_TRUE(launcher.wait_for_err("epoch 1: test accuracy"));
  const std::vector<pid_t> children = children_of(launcher.pid());
  EXPECT_EQ(children.size(), 5U) << "a root and four nodes";
  launcher.send(SIGKILL);
  for (const pid_t child : children) EXPECT_TRUE(ends(child)) << child;
  EXPECT_EQ(launcher.wait().exit_code, 128 + SIGKILL);
}

TEST_F(LaunchTest, WhatCannotBeLaunchedIsRefused) {
  expect_refused({"launch", "--workers-per-node", "0"}, 2,
                 "--workers-per-node 0: give a whole number from 1 to 4000");
  expect_refused({"launch", "--lr", "fast"}, 2, "--lr fast: train.lr: expected a number");
  expect_refused({"launch", "--resume", "none"}, 1, "none: no such folder");
  folder.write("job.toml", "[[node]]\nhost = \"elsewhere\"\nworkers = 4\n");
  expect_refused({"launch", "job.toml"}, 2,
                 "[[node]] host = \"elsewhere\": it has to reach the root: set net.listen");
  expect_refused({"launch", "job.toml", "--workers-per-node", "2"}, 2,
                 "--workers-per-node: the job has [[node]] blocks, which say it");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "runs")) << "no folder is made for these";
  expect_refused(job({"--data-dir", "nowhere", "--data", "mnist"}), 1, "nowhere");
}

TEST_F(LaunchTest, WhatIsTypedWronglyForANodeIsExplained) {
  expect_refused({"node"}, 2, "--root or --join is missing: a node begins a run or joins one");
  expect_refused({"node", "--root", "--join", "a:1"}, 2, "--root and --join: a node does one of them");
  expect_refused({"node", "--join", "x"}, 2, "--join: \"x\" is no address: the port is missing");
  expect_refused({"node", "--join", "a:1", "job.toml"}, 2, "job.toml: a node that joins is told its job");
  expect_refused({"node", "--join", "a:1", "--lr", "3"}, 2, "--lr: does not go with --join");
  expect_refused({"node", "--join", "a:1", "--workers", "0"}, 2, "--workers 0: give a whole number");
  expect_refused({"node", "--root"}, 2, "--listen is missing: say where nodes reach this one");
  expect_refused({"node", "--root", "--listen", "127.0.0.1:0", "--name", "n"}, 2,
                 "--name: does not go with --root");
  expect_refused({"node", "--root", "--listen", "127.0.0.1:0", "--local-workers", "9"}, 2,
                 "--local-workers 9: give a whole number from 0 to 4");
  expect_refused(
      {"node", "--root", "--listen", "10.0.0.1:0"}, 2,
      "--listen 10.0.0.1:0: other machines reach it, and no keys are given: make them with: thalweg "
      "keys init keys; thalweg keys node root; and add: --keys keys/root");
  expect_refused({"node", "--root", "--resume", "none", "--listen", "127.0.0.1:0"}, 1,
                 "none: no such folder");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "nothing was made for these";
}

}  // namespace
}  // namespace thalweg::testing
