#include "runtime/config/schema.hpp"

#include <thalweg/config.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// The files in tests/golden/config cover what a job file can get wrong; here are the right ones, flags, and
// configurations made in code.
namespace thalweg {
namespace {

/// A job file in the test's own folder, gone afterwards.
class JobFile : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& text) const {
    const auto path = folder_ / "job.toml";
    std::ofstream(path) << text;
    return path;
  }

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      (std::string("thalweg_config_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

Result<Config> set(const std::string& key, const std::string& value, const std::string& flag = "--set") {
  return load_config({}, {{key, value, flag}});
}

using Slow = std::vector<std::pair<std::string, double>>;

std::string error_of(const Result<Config>& result) {
  return result.ok() ? "(no error)" : result.error().text;
}

TEST(LoadConfig, WithoutAFileIsTheDefaultsResolved) {
  const auto config = load_config({}, {});
  ASSERT_TRUE(config.ok()) << config.error().text;
  Config expected;
  expected.topology.tree = {0, {{4, {}}}};
  EXPECT_EQ(*config, expected);
  EXPECT_EQ(config->global_batch(), 64U);
}

TEST_F(JobFile, EveryKeyIsRead) {
  const auto config = load_config(write(R"(
[run]
out = "runs/a"
seed = 9223372036854775807
name = "first try"
[model]
name = "mlp"
init_from = "w.safetensors"
hidden = [64, 32]
[data]
name = "synthetic"
dir = "/data"
drop_last = true
samples = 1000
classes = 3
noise = 1
[train]
steps = 500
batch = [8, 16, 24]
lr = 1e-3
schedule = "step"
warmup_steps = 10
step_at = [0.25, 0.5]
step_factor = 0.5
optimizer = "sgd"
momentum = 0
nesterov = true
weight_decay = 5e-4
[topology]
tree = [1, [2]]
[sync]
method = "ssgd"
[eval]
every = 0
)"),
                                  {});
  ASSERT_TRUE(config.ok()) << config.error().text;
  Config expected;
  expected.run = {"runs/a", 9223372036854775807U, "first try"};
  expected.model = {"mlp", "w.safetensors", {64, 32}};
  expected.data = {"synthetic", "/data", true, 1000, 3, 1.0};
  expected.train = {1, 500, {8, 16, 24}, 1e-3, "step", 10, {0.25, 0.5}, 0.5, "sgd", 0.0, true, 5e-4};
  expected.topology = {3, 2, {0, {{1, {}}, {0, {{2, {}}}}}}};
  expected.eval.every = 0;
  EXPECT_EQ(*config, expected);
  EXPECT_EQ(config->global_batch(), 48U);

  const auto again = load_config(write(print_config(*config)), {});
  ASSERT_TRUE(again.ok()) << again.error().text;
  EXPECT_EQ(*again, *config);
}

TEST_F(JobFile, SectionsMayBeWrittenInAnyTomlForm) {
  const auto config =
      load_config(write("train = { lr = 1, batch = 4 }\nrun.seed = 7\n[topology]\nworkers = 2\n"), {});
  ASSERT_TRUE(config.ok()) << config.error().text;
  EXPECT_EQ(config->train.lr, 1.0);
  EXPECT_EQ(config->train.batch, std::vector<std::size_t>{4});
  EXPECT_EQ(config->run.seed, 7U);
  EXPECT_EQ(config->topology.tree.text(), "[2]");
}

TEST_F(JobFile, PrintingAndReadingBackChangesNothing) {
  const std::vector<std::vector<Override>> cases{
      {},
      {{"topology.tree", "[[2, 2], [4]]", ""}, {"train.batch", "[1,2,3,4,5,6,7,8]", ""}},
      {{"topology.workers", "7", ""}, {"topology.groups", "3", ""}},
      {{"topology.groups", "0", ""}},
      {{"train.steps", "3", ""}, {"train.lr", "0.1", ""}, {"train.weight_decay", "1e-300", ""}},
      {{"train.lr", "0.30000000000000004", ""}, {"data.noise", "1e22", ""}, {"model.hidden", "[]", ""}},
      {{"emulate.slow", "{w3 = 4, w1 = 0.1}", ""},
       {"emulate.step", "5ms", ""},
       {"emulate.rate_mbit", "1e3", ""}},
      {{"sync.method", "ssp( 3 )", ""}, {"sync.level.0.trigger", "quorum(3,0.5)", ""}},
      {{"sync.level.1.trigger", "pulled", ""},
       {"sync.trigger", "count(2)", ""},
       {"sync.adopt", "mix(0.1)", ""}},
      {{"net.listen", "[::1]:0", ""}, {"net.join", "root-machine:7000", ""}, {"net.silence", "80ms", ""}},
      {{"run.name", "a \\\"b\\\" # ü", ""}, {"run.out", "C:\\dir with 'quotes' and \"more\"", ""}},
  };
  for (const auto& overrides : cases) {
    const auto config = load_config({}, overrides);
    ASSERT_TRUE(config.ok()) << config.error().text;
    const std::string text = print_config(*config);
    const auto again = load_config(write(text), {});
    ASSERT_TRUE(again.ok()) << again.error().text << "\n" << text;
    EXPECT_EQ(*again, *config) << text;
    EXPECT_EQ(print_config(*again), text);
  }
}

TEST_F(JobFile, NodesAreReadInOrderAndWrittenBack) {
  const auto config = load_config(write(R"([[node]]
host = "a"
workers = 3

[[node]]
host = "10.0.0.2"
group = 1
devices = ["cuda:0", "host"]

[topology]
workers = 4
groups = 2
[net]
listen = "0.0.0.0:7000"
join = "a:7000"
keys = "keys"
silence = "1.5s"
chunk_kib = 64
window = 65536
restarts = 0
[sync]
offline_max = 8
admit_within = 1
)"),
                                  {});
  ASSERT_TRUE(config.ok()) << config.error().text;
  const std::vector<Config::Node> nodes = {{"a", 3, 0, {"host"}}, {"10.0.0.2", 1, 1, {"cuda:0", "host"}}};
  EXPECT_EQ(config->nodes, nodes);
  const Config::Net net = {"0.0.0.0:7000", "a:7000", "keys", std::chrono::milliseconds(1500), 64, 65536, 0};
  EXPECT_EQ(config->net, net);
  EXPECT_EQ(config->sync.offline_max, 8U);
  EXPECT_EQ(config->sync.admit_within, 1.0);
  const std::string text = print_config(*config);
  const auto again = load_config(write(text), {});
  ASSERT_TRUE(again.ok()) << again.error().text << "\n" << text;
  EXPECT_EQ(*again, *config) << text;
  EXPECT_EQ(print_config(*again), text);
}

TEST_F(JobFile, ANodeMayBeAnEmptyBlock) {
  const auto config = load_config(write("topology.workers = 2\n[[node]]\n[[node]]\n"), {});
  ASSERT_TRUE(config.ok()) << config.error().text;
  EXPECT_EQ(config->nodes, std::vector<Config::Node>(2));
}

TEST_F(JobFile, NodesAreNotForFlags) {
  EXPECT_EQ(
      error_of(set("node.host", "a")),
      "--set node.host=a: node.host: a flag cannot say of which node: write it into a [[node]] block of "
      "the job file");
  const auto file = write("topology.workers = 2\n[[node]]\n[[node]]\n");
  EXPECT_EQ(
      error_of(load_config(file, {{"topology.workers", "3", "--workers"}})),
      "--workers 3: topology.workers: all blocks together have 2 workers, and the tree has 3: make them "
      "equal");
}

TEST(Config, NodesMadeInCodeAreCheckedAsThoseOfAFile) {
  Config config;
  config.nodes = {{"a", 4, 0, {"host"}}};
  EXPECT_EQ(error_of(resolve_config(config)), "(no error)");
  config.nodes[0].devices = {""};
  EXPECT_EQ(error_of(resolve_config(config)),
            "node: devices of block 1: is empty: give a name, or leave the key out");
  config.nodes[0].devices = {"host"};
  config.net.silence = std::chrono::milliseconds(0);
  EXPECT_EQ(error_of(resolve_config(config)), "net.silence: 0s is out of range: it must be at least 80ms");
}

TEST(PrintConfig, ANodeIsShownAsACommentWhereThereIsNone) {
  const std::string text = print_config(Config{});
  EXPECT_NE(text.find("\n# [[node]]\n# Name or address of the machine; empty: this one.\n# host = \"\"\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n# devices = [\"host\"]\n"), std::string::npos) << text;
}

TEST_F(JobFile, MissingOrUnreadable) {
  const auto missing = load_config(folder_ / "none.toml", {});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_EQ(missing.error().text, "cannot read job file " + (folder_ / "none.toml").string() +
                                      ": it does not exist: check the path");
  const auto folder = load_config(folder_, {});
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().code, ErrorCode::io);
  EXPECT_EQ(error_of(folder),
            "cannot read job file " + folder_.string() + ": it is a folder: give the file in it");
  const auto large = load_config(write(std::string(2 << 20, '#')), {});
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().code, ErrorCode::invalid);
}

TEST_F(JobFile, KeysNestedWithoutEndAreRefused) {
  std::string key = "a";
  for (int i = 0; i < 500'000; ++i) key += ".a";
  for (const auto& text : {key + " = 1\n", "[" + key + "]\n", "x = {" + key + " = 1}\n"}) {
    const auto file = write(text);
    EXPECT_EQ(error_of(load_config(file, {})),
              "cannot read job file " + file.string() +
                  ": it holds more than 4000 dots, as keys nested without end do: give a job file");
  }
  const auto flag = load_config({}, {{"train.lr", "{" + key + " = 1}", ""}});
  ASSERT_FALSE(flag.ok());
  EXPECT_TRUE(flag.error().text.ends_with(": train.lr: expected a number, found a string"));
}

TEST(PrintConfig, HasACommentAboveEachKeyAndEachKeyOnce) {
  const std::string text = print_config(Config{});
  std::size_t from = 0;
  for (const auto& key : config::all_keys()) {
    if (key.left_out) continue;
    const std::string lines = "# " + std::string(key.comment) + "\n" + std::string(key.name) + " = ";
    const auto at = text.find(lines, from);
    ASSERT_NE(at, std::string::npos) << key.text();
    from = at + lines.size();
  }
  EXPECT_NE(text.find("\ntree = [4]\n"), std::string::npos) << "resolved, though the Config was not";
}

TEST(PrintConfig, LevelsThatSayNothingAreCommentedOut) {
  Config config;
  config.sync.level_triggers[1] = "any";
  const std::string text = print_config(config);
  EXPECT_NE(
      text.find(
          "\n# [sync.level.0]\n# trigger = \"\"\n[sync.level.1]\ntrigger = \"any\"\n# [sync.level.2]\n"),
      std::string::npos)
      << text;
}

TEST(PrintConfig, EpochsThatStepsReplaceAreCommentedOut) {
  Config config;
  config.train.steps = 5;
  const std::string text = print_config(config);
  EXPECT_NE(text.find("\n# epochs = 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nsteps = 5\n"), std::string::npos) << text;
}

TEST(Overrides, AreTomlValuesOrElseBareStrings) {
  EXPECT_EQ(set("model.name", "mlp")->model.name, "mlp");
  EXPECT_EQ(set("model.name", "\"mlp\"")->model.name, "mlp");
  EXPECT_EQ(set("run.out", "2024")->run.out, "2024") << "a string key takes the text as it is";
  EXPECT_EQ(set("run.out", "2024-01-01")->run.out, "2024-01-01");
  EXPECT_EQ(set("run.out", "a # b")->run.out, "a # b");
  EXPECT_EQ(set("run.out", "")->run.out, "");
  EXPECT_EQ(set("topology.tree", "[[2,2],[4]]")->topology.tree.text(), "[[2, 2], [4]]");
  EXPECT_EQ(set("topology.tree", "3")->topology.tree.text(), "3");
  EXPECT_EQ(set("train.nesterov", "true")->train.nesterov, true);
  EXPECT_EQ(set("train.lr", "1")->train.lr, 1.0);
  EXPECT_EQ(set("model.hidden", "[]")->model.hidden.size(), 0U);
  const auto batch =
      load_config({}, {{"topology.workers", "2", "--workers"}, {"train.batch", "[16,48]", "--batch"}});
  ASSERT_TRUE(batch.ok()) << batch.error().text;
  EXPECT_EQ(batch->train.batch, (std::vector<std::size_t>{16, 48}));
}

TEST(Overrides, ErrorsNameTheFlag) {
  EXPECT_EQ(error_of(set("topology.workers", "0", "--workers")),
            "--workers 0: topology.workers: 0 is out of range: it must be from 1 to 4000");
  EXPECT_EQ(error_of(set("train.bacth", "3")),
            "--set train.bacth=3: unknown key 'train.bacth': did you mean 'train.batch'?");
  EXPECT_EQ(error_of(set("lr", "3")), "--set lr=3: unknown key 'lr': did you mean 'train.lr'?");
  EXPECT_EQ(error_of(set("", "3")), "--set =3: no key is named: give section.key=value");
  EXPECT_EQ(error_of(set("train.", "3")), "--set train.=3: no key is named: give section.key=value");
  EXPECT_EQ(error_of(set("train.lr", "fast", "--lr")),
            "--lr fast: train.lr: expected a number, found a string");
  EXPECT_EQ(error_of(set("train.lr", "", "--lr")), "--lr : train.lr: expected a number, found a string");
  EXPECT_EQ(
      error_of(set("run.seed", "9223372036854775808", "--seed")),
      "--seed 9223372036854775808: run.seed: expected an integer, found one that does not fit in 64 bits");
  EXPECT_EQ(error_of(set("run.seed", "-1", "--seed")),
            "--seed -1: run.seed: -1 is out of range: it must be from 0 to 9223372036854775807");
  EXPECT_EQ(error_of(set("sync.method", "asd", "--method")),
            "--method asd: sync.method: 'asd' is not known: did you mean asp?");
  EXPECT_EQ(error_of(set("train.lr", "1\nmomentum = 2", "--lr")),
            "--lr 1\\x0amomentum = 2: train.lr: expected a number, found a string");
  EXPECT_EQ(error_of(set("run.out", "a\xff", "--out")),
            "--out a\\xff: run.out: holds what is no printable text: give UTF-8 without control characters");
  EXPECT_EQ(set("lr", "3").error().code, ErrorCode::invalid);
}

TEST(Overrides, SetEntriesOfATable) {
  EXPECT_EQ(set("emulate.slow", "{w3 = 4.0}")->emulate.slow, (Slow{{"w3", 4.0}}));
  EXPECT_EQ(set("emulate.slow.w3", "4")->emulate.slow, (Slow{{"w3", 4.0}}));
  const auto both = load_config({}, {{"emulate.slow", "{w3 = 4.0, w1 = 2.0}", "--set"},
                                     {"emulate.slow.w0", "3", "--set"},
                                     {"emulate.slow.w1", "1.5", "--set"}});
  ASSERT_TRUE(both.ok()) << both.error().text;
  EXPECT_EQ(both->emulate.slow, (Slow{{"w0", 3.0}, {"w1", 1.5}, {"w3", 4.0}})) << "in worker order";
  EXPECT_EQ(error_of(set("emulate.slow.w4", "2")),
            "--set emulate.slow.w4=2: emulate.slow: there is no worker 'w4' to be slow: they are w0 to w3");
  EXPECT_EQ(error_of(set("emulate.slow.w3", "fast")),
            "--set emulate.slow.w3=fast: emulate.slow: expected a number in the table, found a string");
}

TEST(Overrides, ReachNestedSections) {
  EXPECT_EQ(set("sync.level.1.trigger", "forward")->sync.level_triggers[1], "forward");
  EXPECT_EQ(set("sync.level.0.trigger", " quorum(3,50) ")->sync.level_triggers[0], "quorum(3, 50)");
  EXPECT_EQ(error_of(set("sync.level.4.trigger", "all")),
            "--set sync.level.4.trigger=all: unknown key 'sync.level.4.trigger': did you mean "
            "'sync.level.0.trigger'?");
  EXPECT_EQ(error_of(set("sync.level", "all")),
            "--set sync.level=all: unknown key 'sync.level': did you mean the section 'sync.level.0'?");
  EXPECT_EQ(error_of(set("sync.level.2.trigger", "all")),
            "--set sync.level.2.trigger=all: sync.level.2.trigger: there are no aggregators on level 2: "
            "the tree's levels are 0 to 1");
}

TEST(Overrides, NameMethodsAndPartsWithTheirNumbers) {
  for (const std::string method :
       {"ssgd", "asp", "ssp", "ssp(0)", "nsoftsync(2)", "inhad(4)", "dcasgd", "local_sgd(8)",
        "post_local_sgd", "flsgd(16)", "diloco", "diloco_eager(8)"}) {
    const auto config = set("sync.method", method);
    ASSERT_TRUE(config.ok()) << config.error().text;
    EXPECT_EQ(config->sync.method, method);
  }
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, std::string>>{{"sync.local", "steps(8)"},
                                                        {"sync.local", "free(8)"},
                                                        {"sync.pace", "one_behind"},
                                                        {"sync.trigger", "progress(4)"},
                                                        {"sync.adopt", "keep_local"},
                                                        {"sync.pull_when", "groups(2, 3)"}}) {
    EXPECT_EQ(error_of(set(key, value)), "(no error)");
  }
}

TEST(Overrides, DeepNestingIsRefused) {
  EXPECT_FALSE(set("topology.tree", std::string(100'000, '[')).ok());
  EXPECT_FALSE(set("topology.tree", std::string(100'000, '[') + "1" + std::string(100'000, ']')).ok());
}

TEST(ResolveConfig, MakesTheTreeOfAConfigMadeInCode) {
  Config config;
  config.topology.workers = 5;
  config.topology.groups = 2;
  const auto resolved = resolve_config(config);
  ASSERT_TRUE(resolved.ok()) << resolved.error().text;
  EXPECT_EQ(resolved->topology.tree.text(), "[3, 2]");
}

TEST(ResolveConfig, ATreeDecides) {
  Config config;
  config.topology.tree = {0, {{1, {}}, {2, {}}}};
  const auto resolved = resolve_config(config);
  ASSERT_TRUE(resolved.ok()) << resolved.error().text;
  EXPECT_EQ(resolved->topology.workers, 3U);
  EXPECT_EQ(resolved->topology.groups, 2U);
}

TEST(ResolveConfig, ChecksEveryNumber) {
  const auto error = [](auto change) {
    Config config;
    change(config);
    return error_of(resolve_config(config));
  };
  EXPECT_EQ(error([](Config& c) { c.topology.workers = 0; }),
            "topology.workers: 0 is out of range: it must be from 1 to 4000");
  EXPECT_EQ(error([](Config& c) { c.train.lr = std::numeric_limits<double>::quiet_NaN(); }),
            "train.lr: nan is out of range: it must be finite and at least 0");
  EXPECT_EQ(error([](Config& c) { c.run.seed = std::uint64_t{1} << 63; }),
            "run.seed: 9223372036854775808 is out of range: it must be from 0 to 9223372036854775807");
  EXPECT_EQ(error([](Config& c) {
              c.topology.tree.children = {{2, {}}, {}};
            }),
            "topology.tree: 0 workers have nothing to send: every number must be at least 1");
  EXPECT_EQ(error([](Config& c) {
              c.topology.tree.children = {{4000, {}}};
            }),
            "topology.tree: 4000 workers and 1 leaders are too many: one process holds 4000 together");
  EXPECT_EQ(error([](Config& c) { c.train.batch = {}; }),
            "train.batch: 0 batch sizes for 4 workers: give one number for all, or one for each");
  EXPECT_EQ(error([](Config& c) { c.data.name = ""; }),
            "data.name: is empty: give a name, or leave the key out");
}

TEST(ResolveConfig, ChecksTheSlowWorkers) {
  const auto error = [](const Slow& slow, std::size_t workers = 4) {
    Config config;
    config.topology.workers = workers;
    config.emulate.slow = slow;
    return error_of(resolve_config(config));
  };
  EXPECT_EQ(error({{"w1", std::numeric_limits<double>::infinity()}}),
            "emulate.slow: inf is out of range: each must be finite and above 0");
  EXPECT_EQ(error({{"w1", 2}, {"w1", 3}}), "emulate.slow: 'w1' stands there twice: keep one of the two");
  EXPECT_EQ(error({{"w1", 2}}, 1), "emulate.slow: there is no worker 'w1' to be slow: the only one is w0");
  for (const std::string name : {"", "w", "w01", "w4", "g0", "1", "w1 ", "w99999999999999999999"}) {
    EXPECT_EQ(error({{name, 2}}),
              "emulate.slow: there is no worker '" + name + "' to be slow: they are w0 to w3");
  }
}

TEST(ResolveConfig, ChecksTheLevelsOfTheTree) {
  Config config;
  config.topology.groups = 0;
  config.sync.level_triggers[1] = "any";
  EXPECT_EQ(
      error_of(resolve_config(config)),
      "sync.level.1.trigger: there are no aggregators on level 1: the tree's only level is 0, the root");
  config.sync.level_triggers = {"any", "", "", ""};
  config.sync.trigger = "any";
  EXPECT_EQ(error_of(resolve_config(config)), "(no error)") << "they agree";
}

TEST(Config, DurationsAreReadAndPrinted) {
  for (const auto& [written, milliseconds, printed] : {std::tuple{"250ms", 250, "250ms"},
                                                       {"90s", 90'000, "90s"},
                                                       {"1.5h", 5'400'000, "90m"},
                                                       {"2 m", 120'000, "2m"},
                                                       {"0s", 0, "0s"},
                                                       {"0.0004s", 0, "0s"},
                                                       {"3600s", 3'600'000, "1h"}}) {
    const auto config = load_config("", {{"stop.max_time", written, "--set"}});
    ASSERT_TRUE(config) << config.error().text;
    EXPECT_EQ(config->stop.max_time, std::chrono::milliseconds(milliseconds)) << written;
    EXPECT_NE(print_config(*config).find(std::string("max_time = \"") + printed + "\"\n"), std::string::npos);
  }
}

}  // namespace
}  // namespace thalweg
