#include "runtime/config/schema.hpp"

#include <thalweg/config.hpp>

#include <gtest/gtest.h>

namespace thalweg {
namespace {

TreeSpec flat(std::size_t workers) { return {workers, {}}; }

TEST(TreeSpec, WorkersRightBelowTheRoot) {
  const TreeSpec tree = flat(4);
  EXPECT_EQ(tree.worker_count(), 4U);
  EXPECT_EQ(tree.leader_count(), 0U);
  EXPECT_EQ(tree.depth(), 1U);
  EXPECT_EQ(tree.text(), "4");
}

TEST(TreeSpec, TwoLeaders) {
  const TreeSpec tree{0, {flat(2), flat(3)}};
  EXPECT_EQ(tree.worker_count(), 5U);
  EXPECT_EQ(tree.leader_count(), 2U);
  EXPECT_EQ(tree.depth(), 2U);
  EXPECT_EQ(tree.text(), "[2, 3]");
}

TEST(TreeSpec, ThreeLevels) {
  const TreeSpec tree{0, {{0, {flat(2), flat(2)}}, {0, {flat(4)}}}};
  EXPECT_EQ(tree.worker_count(), 8U);
  EXPECT_EQ(tree.leader_count(), 5U);
  EXPECT_EQ(tree.depth(), 3U);
  EXPECT_EQ(tree.text(), "[[2, 2], [4]]");
}

TEST(TreeSpec, BranchesMayDifferInDepth) {
  const TreeSpec tree{0, {flat(1), {0, {flat(1), flat(2)}}}};
  EXPECT_EQ(tree.depth(), 3U);
  EXPECT_EQ(tree.text(), "[1, [1, 2]]");
}

TEST(EvenTree, SharesWorkersLargerGroupsFirst) {
  EXPECT_EQ(config::even_tree(4, 0).text(), "4");
  EXPECT_EQ(config::even_tree(4, 1).text(), "[4]");
  EXPECT_EQ(config::even_tree(4, 2).text(), "[2, 2]");
  EXPECT_EQ(config::even_tree(11, 4).text(), "[3, 3, 3, 2]");
  EXPECT_EQ(config::even_tree(3, 3).text(), "[1, 1, 1]");
}

TEST(EvenTree, LosesNoWorker) {
  for (std::uint64_t workers = 1; workers <= 40; ++workers) {
    for (std::uint64_t groups = 0; groups <= workers; ++groups) {
      const auto tree = config::even_tree(workers, groups);
      ASSERT_EQ(tree.worker_count(), workers);
      ASSERT_EQ(tree.leader_count(), groups);
    }
  }
}

}  // namespace
}  // namespace thalweg
