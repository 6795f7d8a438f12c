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

TEST(NodeRoles, AnotherMachineIsRefusedWithWhatToTypeThere) {
  Config config = job(6, 2);
  config.nodes = {block("", 3, 0), block("gpu-7", 3, 1)};
  const auto roles = node_roles(config, 1, "here");
  ASSERT_FALSE(roles);
  EXPECT_EQ(roles.error().code, ErrorCode::invalid);
  EXPECT_THAT(roles.error().text,
              HasSubstr("[[node]] host = \"gpu-7\": launch starts processes on this machine only"));
  EXPECT_THAT(roles.error().text,
              HasSubstr("on gpu-7: thalweg node --join ADDR:PORT --workers 3 --group g1 --keys DIR"));
}

}  // namespace
}  // namespace thalweg::launch
