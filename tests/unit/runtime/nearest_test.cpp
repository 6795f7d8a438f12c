#include "runtime/config/nearest.hpp"

#include <gtest/gtest.h>

namespace thalweg {
namespace {

TEST(NameDistance, CountsEdits) {
  EXPECT_EQ(name_distance("batch", "batch"), 0U);
  EXPECT_EQ(name_distance("bacth", "batch"), 1U) << "a swap is one edit";
  EXPECT_EQ(name_distance("btach", "batch"), 1U);
  EXPECT_EQ(name_distance("bach", "batch"), 1U);
  EXPECT_EQ(name_distance("badch", "batch"), 1U);
  EXPECT_EQ(name_distance("sitting", "kitten"), 3U);
  EXPECT_EQ(name_distance("", "lr"), 2U);
  EXPECT_EQ(name_distance("lr", ""), 2U);
}

TEST(NameDistance, ABeginningIsNear) {
  EXPECT_EQ(name_distance("batch_size", "batch"), 1U);
  EXPECT_EQ(name_distance("warmup", "warmup_steps"), 1U);
  EXPECT_EQ(name_distance("lr_decay", "lr"), 6U) << "two letters say too little";
}

TEST(NearestName, FindsWhatWasMeant) {
  const std::vector<std::string> known{"epochs", "steps", "batch", "lr"};
  EXPECT_EQ(nearest_name("epoch", known), "epochs");
  EXPECT_EQ(nearest_name("step", known), "steps");
  EXPECT_EQ(nearest_name("rl", known), "lr");
  EXPECT_EQ(nearest_name("banana", known), "");
  EXPECT_EQ(nearest_name("x", known), "");
  EXPECT_EQ(nearest_name("batch", {}), "");
}

TEST(NearestName, TakesTheFirstOfEquals) { EXPECT_EQ(nearest_name("cat", {"bat", "car"}), "bat"); }

}  // namespace
}  // namespace thalweg
