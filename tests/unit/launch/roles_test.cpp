#include "tools/launch/roles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace thalweg::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Config job(std::size_t workers, std::size_t groups) {
  Config config;
  config.topology.workers = workers;
  config.topology.groups = groups;
  return config;
}

Config::Node block(const std::string& host, std::size_t workers, std::size_t group) {
  return {.host = host, .workers = workers, .group = group, .devices = {"host"}};
}

TEST(NodeRoles, EachWorkerIsAProcessUnlessTheyShareOne) {
  EXPECT_THAT(*node_roles(job(3, 1), 1, "here"),
              ElementsAre(NodeRole{"node-1", 1, ""}, NodeRole{"node-2", 1, ""}, NodeRole{"node-3", 1, ""}));
  EXPECT_THAT(*node_roles(job(5, 2), 2, "here"),
              ElementsAre(NodeRole{"node-1", 2, ""}, NodeRole{"node-2", 2, ""}, NodeRole{"node-3", 1, ""}));
  EXPECT_THAT(*node_roles(job(2, 1), 8, "here"), ElementsAre(NodeRole{"node-1", 2, ""}));
}

TEST(NodeRoles, BlocksSayWhichProcessesThereAre) {
  Config config = job(6, 2);
  config.nodes = {block("", 3, 0), block("localhost", 1, 1), block("here", 1, 1), block("127.0.0.1", 1, 1)};
  EXPECT_THAT(*node_roles(config, 1, "here"),
              ElementsAre(NodeRole{"node-1", 3, "g0"}, NodeRole{"node-2", 1, "g1"},
                          NodeRole{"node-3", 1, "g1"}, NodeRole{"node-4", 1, "g1"}));
  config.topology.groups = 0;
  EXPECT_EQ((*node_roles(config, 1, "here"))[0].group, "") << "there is no leader to belong to";
}

TEST(NodeRoles, AnotherMachineHasToReachTheRoot) {
  Config config = job(6, 2);
  config.nodes = {block("", 3, 0), block("gpu-7", 3, 1)};
  for (const char* listen : {"", "127.0.0.1:7000", "0.0.0.0:7000", "localhost:7000", "10.0.0.1:7000"}) {
    config.net.listen = listen;
    const auto roles = node_roles(config, 1, "here");
    ASSERT_FALSE(roles) << listen;
    EXPECT_EQ(roles.error().code, ErrorCode::invalid);
    EXPECT_THAT(roles.error().text,
                HasSubstr("[[node]] host = \"gpu-7\": it has to reach the root: set net.listen"));
    EXPECT_THAT(roles.error().text,
                HasSubstr("thalweg keys node gpu-7; and copy keys/gpu-7 to gpu-7 as keys"));
  }
  config.net.keys = "keys/root";
  EXPECT_THAT(*node_roles(config, 1, "here"),
              ElementsAre(NodeRole{"node-1", 3, "g0", ""}, NodeRole{"node-2", 3, "g1", "gpu-7"}));
}

TEST(ShellLine, KeepsEachArgumentOneWord) {
  EXPECT_EQ(shell_line({"thalweg", "--name", "a b", "it's", "$HOME;x"}),
            "'thalweg' '--name' 'a b' 'it'\\''s' '$HOME;x'");
  EXPECT_EQ(shell_line({}), "");
}

}  // namespace
}  // namespace thalweg::launch
