#include "actors/checkpoint.hpp"

#include "tests/support/temp_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

/// A snapshot through a file and back, and what is refused of a file.
namespace thalweg::actors {
namespace {

using ::testing::HasSubstr;

TEST(Ranges, SurviveAsText) {
  const std::vector<IndexRange> ranges = {{0, 0, 60000}, {1, 0, 64}, {1, 128, 64}};
  EXPECT_EQ(ranges_text(ranges), "0:0+60000 1:0+64 1:128+64");
  const auto read = read_ranges(ranges_text(ranges));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, ranges);
  EXPECT_TRUE(read_ranges("")->empty());
}

TEST(Ranges, OfAnotherMakingAreRefused) {
  for (const char* text : {"x", "0", "0:0", "0:0+", "0:0+0", "0:0+4 ", " 0:0+4", "0:0+4  0:9+1",
                           "0:0+4,0:9+1", "-1:0+4", "0:-1+4", "0:0+4 0:2+4", "0:0+4 0:4+4", "1:0+4 0:0+4",
                           "0:0+4x", "0:18446744073709551615+2", "0:99999999999999999999+1"}) {
    EXPECT_FALSE(read_ranges(text)) << text;
  }
}

class CheckpointTest : public ::testing::Test {
 protected:
  CheckpointTest() {
    auto parameters = pool->take();
    for (std::size_t i = 0; i < 32; ++i) parameters->values()[i] = i < 19 ? static_cast<float>(i) : 0;
    snapshot.version = {812};
    snapshot.parameters = parameters;
    snapshot.optimizer = {{"momentum", std::vector<float>(32, 0.0F)}};
    std::fill_n(snapshot.optimizer[0].values.begin(), 16, 0.25F);
    snapshot.optimizer_steps = 812;
    snapshot.committed_samples = 51968;
    snapshot.repeated_samples = 3;
    snapshot.refused = 2;
    snapshot.ledger = {{0, 0, 51900}, {0, 51964, 65}};
    snapshot.quarantined = {{0, 51900, 64}};
  }
  Status save(const std::function<void(CheckpointFile&)>& change = [](CheckpointFile&) {}) {
    auto checkpoint = checkpoint_of({}, slots, snapshot);
    change(checkpoint);
    return models::save_safetensors(file, checkpoint.tensors, checkpoint.metadata);
  }

  TempFolder folder;
  const std::filesystem::path file = folder.path() / "version-812.safetensors";
  const std::vector<Slot> slots = {{"w", {4, 4}, 0, 16, true}, {"b", {3}, 16, 3, false}};
  std::shared_ptr<gpu::BufferPool> pool = gpu::BufferPool::make_host(32, 4);
  Snapshot snapshot;
};

TEST_F(CheckpointTest, IsReadBackWhole) {
  ASSERT_TRUE(save());
  const auto read = read_checkpoint(file, {}, slots, *pool);
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(read->version, snapshot.version);
  EXPECT_TRUE(std::ranges::equal(read->parameters->host(), snapshot.parameters->host()));
  ASSERT_EQ(read->optimizer.size(), 1U);
  EXPECT_EQ(read->optimizer[0].name, "momentum");
  EXPECT_EQ(read->optimizer[0].values, snapshot.optimizer[0].values);
  EXPECT_EQ(read->optimizer_steps, 812U);
  EXPECT_EQ(read->committed_samples, 51968U);
  EXPECT_EQ(read->repeated_samples, 3U);
  EXPECT_EQ(read->refused, 2U);
  EXPECT_EQ(read->ledger, snapshot.ledger);
  EXPECT_EQ(read->quarantined, snapshot.quarantined);
}

TEST_F(CheckpointTest, SaysWhatIsWrongWithIt) {
  const auto error_after = [this](const std::function<void(CheckpointFile&)>& change) {
    EXPECT_TRUE(save(change));
    const auto read = read_checkpoint(file, {}, slots, *pool);
    EXPECT_FALSE(read);
    return read ? "" : read.error().text;
  };
  EXPECT_THAT(
      error_after([](auto& checkpoint) { checkpoint.metadata.erase("ledger"); }),
      HasSubstr("version-812.safetensors: is no whole checkpoint: 'ledger' is missing in its metadata"));
  EXPECT_THAT(error_after([](auto& checkpoint) { checkpoint.metadata["version"] = "8l2"; }),
              HasSubstr("'version' in its metadata is no number"));
  EXPECT_THAT(error_after([](auto& checkpoint) { checkpoint.metadata["quarantined"] = "0:1"; }),
              HasSubstr("'quarantined' in its metadata is no list of ranges"));
  EXPECT_THAT(error_after([](auto& checkpoint) { checkpoint.metadata["schema"] = "2"; }),
              HasSubstr("its schema is not 1"));
  EXPECT_THAT(error_after([](auto& checkpoint) {
                std::swap(checkpoint.tensors[0].values, checkpoint.tensors[2].values);
              }),
              HasSubstr("its contents do not have the checksum that was written with them"));
}

TEST_F(CheckpointTest, IsBelievedInNothingThatWasChangedInIt) {
  for (const char* name :
       {"version", "committed_samples", "ledger", "quarantined", "optimizer_steps", "seed"}) {
    ASSERT_TRUE(save([&](CheckpointFile& checkpoint) {
      auto& digit = checkpoint.metadata[name].back();
      digit = digit == '1' ? '2' : '1';
    }));
    const auto read = read_checkpoint(file, {}, slots, *pool);
    ASSERT_FALSE(read) << name;
    EXPECT_EQ(read.error().code, ErrorCode::corrupt) << name;
  }
  ASSERT_TRUE(save([](CheckpointFile& checkpoint) { checkpoint.tensors[2].name = "momentum/v"; }));
  EXPECT_EQ(read_checkpoint(file, {}, slots, *pool).error().code, ErrorCode::corrupt);
}

TEST_F(CheckpointTest, UnderAnotherNameOrOfAnotherJobIsRefused) {
  ASSERT_TRUE(save());
  const auto renamed = folder.path() / "version-900.safetensors";
  std::filesystem::copy(file, renamed);
  EXPECT_THAT(read_checkpoint(renamed, {}, slots, *pool).error().text, HasSubstr("it holds version 812"));
  Config other;
  other.run.seed = 9;
  const auto read = read_checkpoint(file, other, slots, *pool);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::mismatch);
  EXPECT_THAT(read.error().text, HasSubstr("was made with seed 1, and the job says 9"));
}

TEST_F(CheckpointTest, OfAnotherModelIsAMismatch) {
  ASSERT_TRUE(save());
  const std::vector<Slot> other = {{"w", {4, 4}, 0, 16, true}, {"b", {4}, 16, 4, false}};
  const auto read = read_checkpoint(file, {}, other, *pool);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::mismatch);
}

}  // namespace
}  // namespace thalweg::actors
