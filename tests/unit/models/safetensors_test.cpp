#include "models/safetensors.hpp"

#include "tests/support/temp_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace thalweg::models {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<float> weight{1.5F, -2, 3, 4, 5, 6};
const std::vector<float> bias{0.25F, -0.0F};

std::vector<NamedTensor> two_tensors() { return {{"fc1.weight", {2, 3}, weight}, {"fc1.bias", {2}, bias}}; }

std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

/// A file with this header, as it stands, and `data_bytes` zeros.
std::string raw(const std::string& header, std::size_t data_bytes = 0) {
  std::string bytes(8, '\0');
  const std::uint64_t size = header.size();
  std::memcpy(bytes.data(), &size, 8);
  return bytes + header + std::string(data_bytes, '\0');
}

TEST(Safetensors, RoundTrip) {
  const TempFolder folder;
  const auto file = folder.path() / "model.safetensors";
  ASSERT_TRUE(save_safetensors(file, two_tensors(), {{"version", "7"}, {"method", "ssgd \"quoted\""}}).ok());
  const auto loaded = load_safetensors(file);
  ASSERT_TRUE(loaded.ok()) << loaded.error().text;
  ASSERT_EQ(loaded->tensors.size(), 2U);
  EXPECT_EQ(loaded->tensors[0].name, "fc1.weight");
  EXPECT_THAT(loaded->tensors[0].shape, ElementsAre(2, 3));
  EXPECT_EQ(loaded->tensors[0].values, weight);
  EXPECT_EQ(loaded->metadata,
            (std::map<std::string, std::string>{{"version", "7"}, {"method", "ssgd \"quoted\""}}));
  ASSERT_NE(loaded->find("fc1.bias"), nullptr);
  EXPECT_EQ(bits_of(loaded->find("fc1.bias")->values), bits_of(bias)) << "-0 among them";
  EXPECT_EQ(loaded->find("fc2.bias"), nullptr);
}

TEST(Safetensors, KeepsNumbersThatAreNone) {
  const TempFolder folder;
  const std::vector<float> odd{std::numeric_limits<float>::quiet_NaN(),
                               std::numeric_limits<float>::infinity(), 1e-42F};
  const std::vector<NamedTensor> tensors{
      {"odd", {3}, odd}, {"scalar", {}, std::span(odd).first(1)}, {"none", {0, 4}, {}}};
  ASSERT_TRUE(save_safetensors(folder.path() / "f", tensors).ok());
  const auto loaded = load_safetensors(folder.path() / "f");
  ASSERT_TRUE(loaded.ok()) << loaded.error().text;
  EXPECT_EQ(bits_of(loaded->find("odd")->values), bits_of(odd));
  EXPECT_TRUE(loaded->find("scalar")->shape.empty());
  EXPECT_TRUE(loaded->find("none")->values.empty());
}

TEST(Safetensors, TheBytesAreTheFormats) {
  const TempFolder folder;
  const auto file = folder.path() / "f";
  ASSERT_TRUE(save_safetensors(file, two_tensors(), {{"b", "2"}, {"a", "1"}}).ok());
  const std::string header =
      R"({"__metadata__":{"a":"1","b":"2"},"fc1.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
      R"("fc1.bias":{"dtype":"F32","shape":[2],"data_offsets":[24,32]}})";
  std::string expected = raw(header + std::string((8 - header.size() % 8) % 8, ' '), 32);
  std::memcpy(expected.data() + expected.size() - 32, weight.data(), 24);
  std::memcpy(expected.data() + expected.size() - 8, bias.data(), 8);
  EXPECT_EQ(bytes_of(file), expected);

  ASSERT_TRUE(save_safetensors(file, two_tensors(), {{"a", "1"}, {"b", "2"}}).ok());
  EXPECT_EQ(bytes_of(file), expected) << "saving again gives the same bytes";
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1)
      << "nothing is left beside it";
}

TEST(Safetensors, AFailedSaveLeavesTheOldFile) {
  const TempFolder folder;
  const auto missing = folder.path() / "none" / "f";
  const auto status = save_safetensors(missing, two_tensors());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::io);
  EXPECT_EQ(status.error().text, "cannot write " + missing.string() + ": No such file or directory");

  // A folder in the way of the temporary file stands for a full disk: root may write anywhere.
  const auto file = folder.write("f", "old");
  std::filesystem::create_directory(folder.path() / "f.partial");
  EXPECT_FALSE(save_safetensors(file, two_tensors()).ok());
  EXPECT_EQ(bytes_of(file), "old");
}

TEST(Safetensors, SaysWhatIsNotThere) {
  const TempFolder folder;
  const auto missing = load_safetensors(folder.path() / "none");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  const auto directory = load_safetensors(folder.path());
  ASSERT_FALSE(directory.ok());
  EXPECT_EQ(directory.error().code, ErrorCode::io);
}

TEST(Safetensors, TamesNamesInErrors) {
  const TempFolder folder;
  const std::string name = R"(\u001b[2J)" + std::string(5000, 'x');
  const auto loaded = load_safetensors(folder.write("f", raw("{\"" + name + R"(":{"dtype":"F64"}})")));
  ASSERT_FALSE(loaded.ok());
  EXPECT_THAT(loaded.error().text, HasSubstr(R"(tensor \x1b[2Jxxx)"));
  EXPECT_LT(loaded.error().text.size(), 400U);
}

TEST(Safetensors, CutsNamesBetweenCharacters) {
  const TempFolder folder;
  // The 80th byte of the name is the first of the two of an e with an accent.
  const std::string name = std::string(79, 'x') + "\u00e9" + std::string(10, 'x');
  const auto loaded = load_safetensors(folder.write("f", raw("{\"" + name + R"(":{"dtype":"F64"}})")));
  ASSERT_FALSE(loaded.ok());
  EXPECT_THAT(loaded.error().text, HasSubstr("tensor " + std::string(79, 'x') + "... "));
}

TEST(Safetensors, ReadsWhatOthersWrite) {
  const TempFolder folder;
  // Spaces where JSON allows them, bytes in another order than the names, no metadata.
  std::string bytes = raw(R"({ "b" : {"shape":[1], "data_offsets":[4,8], "dtype":"F32"},
                              "a":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]} }   )",
                          8);
  const std::array<float, 2> values{1, 2};
  std::memcpy(bytes.data() + bytes.size() - 8, values.data(), 8);
  const auto loaded = load_safetensors(folder.write("f", bytes));
  ASSERT_TRUE(loaded.ok()) << loaded.error().text;
  EXPECT_THAT(loaded->find("a")->values, ElementsAre(1.0F));
  EXPECT_THAT(loaded->find("b")->values, ElementsAre(2.0F));
  EXPECT_EQ(loaded->tensors[0].name, "b");
}

class Filling : public testing::Test {
 protected:
  SafetensorsFile file{{{"fc1.weight", {2, 3}, weight}, {"fc1.bias", {2}, bias}}, {}};
  std::vector<Slot> slots{{"fc1.weight", {2, 3}, 0, 6, true}, {"fc1.bias", {2}, 16, 2, true}};
  std::vector<float> parameters = std::vector<float>(32, 9.0F);

  std::string error() {
    const auto status = fill_from(file, slots, parameters, "m.safetensors");
    EXPECT_FALSE(status.ok());
    if (status.ok()) return "filled";
    EXPECT_EQ(status.error().code, ErrorCode::mismatch);
    EXPECT_EQ(parameters, std::vector<float>(32, 9.0F)) << "a failure touches nothing";
    return status.error().text;
  }
};

TEST_F(Filling, PutsTensorsIntoTheirSlots) {
  file.tensors.push_back({"momentum/fc1.bias", {2}, std::vector<float>(2)});
  ASSERT_TRUE(fill_from(file, slots, parameters, "m").ok());
  std::vector<float> expected(32, 0.0F);
  std::copy(weight.begin(), weight.end(), expected.begin());
  std::copy(bias.begin(), bias.end(), expected.begin() + 16);
  EXPECT_EQ(parameters, expected);

  const auto tensors = tensors_of(slots, parameters);
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[1].name, "fc1.bias");
  EXPECT_THAT(tensors[1].shape, ElementsAre(2));
  EXPECT_EQ(tensors[1].values.data(), parameters.data() + 16);
  EXPECT_EQ(tensors[1].values.size(), 2U);
}

TEST_F(Filling, NamesWhatDoesNotFit) {
  file.tensors[0].shape = {3, 2};
  EXPECT_EQ(error(),
            "m.safetensors does not fit the model: tensor fc1.weight is [3, 2] in the file and [2, 3] in the "
            "model: set [model] to what it was saved with");
  file.tensors[0].shape = {2, 3};
  file.tensors.push_back({"fc2.weight", {1}, {1}});
  EXPECT_EQ(error(),
            "m.safetensors does not fit the model: the model has no tensor fc2.weight: set [model] to what "
            "it was saved with");
  file.tensors.erase(file.tensors.begin() + 1);
  EXPECT_EQ(error(),
            "m.safetensors does not fit the model: the file has no tensor fc1.bias: set [model] to what it "
            "was saved with");
}

}  // namespace
}  // namespace thalweg::models
