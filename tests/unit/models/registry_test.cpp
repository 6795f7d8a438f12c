#include "models/registry.hpp"

#include "models/network.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/models/idx_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace thalweg::models {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::size_t> image{1, 28, 28};

std::vector<Slot> slots_of(const Config& config, const std::vector<std::size_t>& input,
                           std::size_t classes = 10) {
  const auto spec = find_network(config, input, classes);
  EXPECT_TRUE(spec.ok()) << spec.error().text;
  auto slots = layout_of(*spec);
  EXPECT_TRUE(slots.ok()) << slots.error().text;
  return std::move(*slots);
}

std::vector<std::string> described(const std::vector<Slot>& slots) {
  std::vector<std::string> texts;
  for (const Slot& slot : slots) {
    std::string text = slot.name + " @" + std::to_string(slot.offset);
    for (const std::size_t dim : slot.shape) text += " " + std::to_string(dim);
    texts.push_back(text);
  }
  return texts;
}

TEST(Networks, Lenet5IsPyTorchs) {
  Config config;
  const auto slots = slots_of(config, image);
  EXPECT_EQ(parameter_count(slots), 61'706U);
  EXPECT_THAT(described(slots),
              ElementsAre("conv1.weight @0 6 1 5 5", "conv1.bias @160 6", "conv2.weight @176 16 6 5 5",
                          "conv2.bias @2576 16", "fc1.weight @2592 120 400", "fc1.bias @50592 120",
                          "fc2.weight @50720 84 120", "fc2.bias @60800 84", "fc3.weight @60896 10 84",
                          "fc3.bias @61744 10"));
  EXPECT_EQ(flat_size(slots), 61'760U);
  for (const Slot& slot : slots) EXPECT_TRUE(slot.decay);
}

TEST(Networks, MlpHasTheHiddenLayersAskedFor) {
  Config config;
  config.model.name = "mlp";
  config.model.hidden = {32, 20};
  EXPECT_THAT(described(slots_of(config, image)),
              ElementsAre("fc1.weight @0 32 784", "fc1.bias @25088 32", "fc2.weight @25120 20 32",
                          "fc2.bias @25760 20", "fc3.weight @25792 10 20", "fc3.bias @26000 10"));
  config.model.hidden = {};
  EXPECT_EQ(parameter_count(slots_of(config, {5}, 3)), 18U);
}

TEST(Networks, SayWhatTheyCannotDo) {
  Config config;
  const auto text = [&](const std::vector<std::size_t>& input) {
    const auto spec = find_network(config, input, 10);
    EXPECT_FALSE(spec.ok());
    EXPECT_EQ(spec.error().code, ErrorCode::invalid);
    return spec.error().text;
  };
  EXPECT_EQ(text({3, 32, 32}),
            "network lenet5 is made for samples of [1, 28, 28], the data have [3, 32, 32]: use --model mlp");
  config.model.name = "lenet";
  EXPECT_EQ(text(image),
            "model.name = \"lenet\": no such name: did you mean \"lenet5\"? known are lenet5, mlp");
  config.model.name = "transformer";
  EXPECT_EQ(text(image), "model.name = \"transformer\": no such name: known are lenet5, mlp");
  EXPECT_THAT(network_names(), ElementsAre("lenet5", "mlp"));
}

std::string layout_error(const NetworkSpec& spec) {
  const auto slots = layout_of(spec);
  EXPECT_FALSE(slots.ok());
  if (slots.ok()) return "fits";
  EXPECT_EQ(slots.error().code, ErrorCode::invalid);
  return slots.error().text;
}

TEST(Networks, LayersThatDoNotFitAreNamed) {
  const LinearLayer last{"fc1", {10, false}};
  EXPECT_THAT(layout_error({"n", {8}, 10, {ConvLayer{"conv1", {.out_channels = 2, .kernel = 3}}, last}}),
              HasSubstr("network n: conv1: conv2d"));
  EXPECT_THAT(
      layout_error({"n", {1, 4, 4}, 10, {ConvLayer{"conv1", {.out_channels = 2, .kernel = 5}}, last}}),
      HasSubstr("network n: conv1: "));
  EXPECT_THAT(layout_error({"n", {1, 1, 1}, 10, {PoolLayer{}, last}}), HasSubstr("network n: layer 0: "));
  EXPECT_THAT(layout_error({"n", {8}, 10, {LinearLayer{"fc1", {8, true}}, last}}),
              HasSubstr("network n: fc1: two layers have this name"));
  EXPECT_EQ(
      layout_error({"n", {8}, 7, {last}}),
      "network n: the last layer: a sample comes out as 1x10, expected one number for each of 7 classes");
  EXPECT_THAT(layout_error({"n", {10}, 10, {}}), HasSubstr("network n: the last layer: "));
  EXPECT_THAT(layout_error({"n", {8, 8}, 10, {last}}), HasSubstr("network n: input: samples of [8, 8]"));
  EXPECT_THAT(layout_error({"n", {8}, 10, {LinearLayer{"big", {std::size_t{1} << 60, true}}, last}}),
              HasSubstr("network n: big: a weight of [1152921504606846976, 8] is too large"));
}

TEST(Datasets, SyntheticFollowsItsOptions) {
  Config config;
  config.data.name = "synthetic";
  config.data.samples = 100;
  config.data.classes = 5;
  const auto pair = load_dataset(config);
  ASSERT_TRUE(pair.ok()) << pair.error().text;
  EXPECT_EQ(pair->train->size(), 100U);
  EXPECT_EQ(pair->test->size(), 25U);
  EXPECT_EQ(pair->train->classes(), 5U);
  EXPECT_THAT(pair->train->sample_shape(), ElementsAre(1, 28, 28));
}

TEST(Datasets, MnistFilesAreFoundGzippedOrNot) {
  const TempFolder folder;
  folder.write("train-images-idx3-ubyte", idx_images(3));
  folder.write("train-labels-idx1-ubyte.gz", gzipped(idx_labels({1, 2, 3})));
  folder.write("t10k-images-idx3-ubyte.gz", gzipped(idx_images(2)));
  Config config;
  config.data.name = "mnist";
  config.data.dir = folder.path().string();
  const auto missing = load_dataset(config);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_EQ(missing.error().text,
            "data file " + (folder.path() / "t10k-labels-idx1-ubyte").string() +
                "[.gz] is not there: download MNIST's four files, or say where they are with "
                "--data-dir");

  folder.write("t10k-labels-idx1-ubyte", idx_labels({4, 5}));
  const auto pair = load_dataset(config);
  ASSERT_TRUE(pair.ok()) << pair.error().text;
  EXPECT_EQ(pair->train->size(), 3U);
  EXPECT_EQ(pair->test->size(), 2U);
  BatchData batch;
  pair->test->read(std::array<std::uint32_t, 1>{1}, batch);
  EXPECT_FLOAT_EQ(batch.features[0], (10.0F / 255.0F - 0.1307F) / 0.3081F);
}

TEST(Datasets, SayWhatIsMissing) {
  const TempFolder folder;
  Config config;
  const auto text = [&](ErrorCode code) {
    const auto pair = load_dataset(config);
    EXPECT_FALSE(pair.ok());
    EXPECT_EQ(pair.error().code, code);
    return pair.error().text;
  };
  config.data.dir = folder.path().string();
  EXPECT_EQ(text(ErrorCode::not_found), "data file " + (folder.path() / "train-images-idx3-ubyte").string() +
                                            "[.gz] is not there: apt-get install dataset-fashion-mnist "
                                            "brings it, or say where it is with --data-dir");
  config.data.dir = "";
  config.data.name = "mnist";
  EXPECT_THAT(text(ErrorCode::invalid), HasSubstr("data.dir is empty"));
  config.data.name = "fashion-mnist";
  EXPECT_EQ(text(ErrorCode::invalid),
            "data.name = \"fashion-mnist\": no such name: did you mean \"fashion_mnist\"? "
            "known are fashion_mnist, mnist, synthetic");
  EXPECT_THAT(dataset_names(), ElementsAre("fashion_mnist", "mnist", "synthetic"));
}

TEST(Datasets, FashionMnistIsNormalised) {
  if (!std::filesystem::exists("/usr/share/datasets/fashion-mnist")) {
    GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  }
  const auto pair = load_dataset(Config{});
  ASSERT_TRUE(pair.ok()) << pair.error().text;
  EXPECT_EQ(pair->train->size(), 60'000U);
  EXPECT_EQ(pair->test->size(), 10'000U);
  std::vector<std::uint32_t> indices;
  for (std::uint32_t i = 0; i < 60'000; i += 60) indices.push_back(i);
  BatchData batch;
  pair->train->read(indices, batch);
  double sum = 0;
  double squares = 0;
  for (const double value : batch.features) {
    sum += value;
    squares += value * value;
  }
  const auto count = static_cast<double>(batch.features.size());
  EXPECT_NEAR(sum / count, 0, 0.02);
  EXPECT_NEAR(squares / count, 1, 0.02);
}

}  // namespace
}  // namespace thalweg::models
