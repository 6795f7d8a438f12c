#include "models/safetensors.hpp"
#include "tests/golden/message_list.hpp"
#include "tests/support/temp_folder.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

/// Safetensors files with one thing broken, and files that are sound but fit no model, with what is said of
/// them.
namespace thalweg::models {
namespace {

/// A file with this header, as it stands, and `data_bytes` zeros.
std::string raw(const std::string& header, std::size_t data_bytes = 0) {
  std::string bytes(8, '\0');
  const std::uint64_t size = header.size();
  std::memcpy(bytes.data(), &size, 8);
  return bytes + header + std::string(data_bytes, '\0');
}

/// One tensor "a" with these fields, in a header of its own.
std::string one(const std::string& fields, std::size_t data_bytes = 8) {
  return raw(R"({"a":{)" + fields + "}}", data_bytes);
}

std::string claiming(std::uint64_t header_bytes, std::string bytes) {
  std::memcpy(bytes.data(), &header_bytes, 8);
  return bytes;
}

struct Broken {
  const char* name;
  std::string bytes;
};

std::vector<Broken> broken_headers() {
  const std::string sound = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";
  return {
      {"empty", ""},
      {"seven bytes", "1234567"},
      {"text", "no weights at all"},
      {"a zip archive, as torch.save writes", "PK\x03\x04" + std::string(60, '\0')},
      {"a length that no file has", claiming(0x7fffffffffffffffU, raw("{}"))},
      {"a header past the end", claiming(3, raw("{}"))},
      {"no header", raw("")},
      {"a word as header", raw("hello")},
      {"an array as header", raw("[1]")},
      {"a space before the header", raw(" {}")},
      {"JSON cut off", raw(R"({"a":{"dtype")")},
      {"JSON followed by more", raw("{} {}")},
      {"a comma too many", raw(R"({"a":{"dtype":"F32",}})")},
      {"single quotes", raw("{'a':{}}")},
      {"a name that is not UTF-8", raw("{\"\xff\xfe\":1}")},
      {"a line break in a name", raw("{\"a\nb\":1}")},
      {"arrays without end", raw(R"({"a":)" + std::string(100'000, '['))},
      {"objects without end", raw(R"({"a":{"dtype":{"b":{"c":)")},
      {"an array in a shape", one(R"("shape":[[[[)")},
      {"a number for a tensor", raw(R"({"a":1})")},
      {"null for a tensor", raw(R"({"a":null})")},
      {"a truth value for a tensor", raw(R"({"a":true})")},
      {"metadata that are a number", raw(R"({"__metadata__":7})")},
      {"metadata that hold a number", raw(R"({"__metadata__":{"version":1}})")},
      {"metadata that hold an object", raw(R"({"__metadata__":{"version":{}}})")},
      {"metadata twice", raw(R"({"__metadata__":{},"__metadata__":{}})")},
      {"a metadata key twice", raw(R"({"__metadata__":{"k":"1","k":"2"}})")},
      {"an unknown field", one(sound + R"(,"stride":1)")},
      {"a field twice", one(sound + R"(,"dtype":"F32")")},
      {"no dtype", one(R"("shape":[2],"data_offsets":[0,8])")},
      {"no shape", one(R"("dtype":"F32","data_offsets":[0,8])")},
      {"no data_offsets", one(R"("dtype":"F32","shape":[2])")},
      {"dtype that is a number", one(R"("dtype":32)")},
      {"shape that is text", one(R"("shape":"[2]")")},
      {"shape that is a number", one(R"("shape":2)")},
      {"shape with text", one(R"("shape":["2"])")},
      {"shape with a negative number", one(R"("shape":[-2])")},
      {"shape with a fraction", one(R"("shape":[2.0])")},
      {"shape past 64 bits", one(R"("shape":[99999999999999999999])")},
      {"one data_offset", one(R"("data_offsets":[8])")},
      {"three data_offsets", one(R"("data_offsets":[0,8,8])")},
      {"control characters and 5000 letters in a name",
       raw(R"({"\u001b[2J)" + std::string(5000, 'x') + R"(":1})")},
  };
}

std::vector<Broken> broken_layouts() {
  const std::string entry = R"(:{"dtype":"F32","shape":[1],"data_offsets":)";
  return {
      {"half floats", one(R"("dtype":"F16","shape":[4],"data_offsets":[0,8])")},
      {"doubles", one(R"("dtype":"F64","shape":[1],"data_offsets":[0,8])")},
      {"integers", one(R"("dtype":"I64","shape":[1],"data_offsets":[0,8])")},
      {"a dtype in small letters", one(R"("dtype":"f32","shape":[2],"data_offsets":[0,8])")},
      {"shape larger than the bytes", one(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])")},
      {"shape smaller than the bytes", one(R"("dtype":"F32","shape":[1],"data_offsets":[0,8])")},
      {"shape that wraps around to the bytes",
       one(R"("dtype":"F32","shape":[4611686018427387906],"data_offsets":[0,8])")},
      {"a shape of nothing with bytes", one(R"("dtype":"F32","shape":[0,2],"data_offsets":[0,8])")},
      {"offsets backwards", one(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])")},
      {"offsets past the end", one(R"("dtype":"F32","shape":[4],"data_offsets":[0,16])")},
      {"offsets far past the end",
       one(R"("dtype":"F32","shape":[2],"data_offsets":[18446744073709551600,18446744073709551608])")},
      {"a file cut in its last tensor", one(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])", 5)},
      {"a gap in front", one(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])")},
      {"a gap between", raw(R"({"a")" + entry + R"([0,4]},"b")" + entry + "[8,12]}}", 12)},
      {"bytes after the last tensor", one(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])", 12)},
      {"two tensors in one place", raw(R"({"a")" + entry + R"([0,4]},"b")" + entry + "[0,4]}}", 4)},
      {"a name twice", raw(R"({"a")" + entry + R"([0,4]},"a")" + entry + "[4,8]}}", 8)},
      {"data without tensors", raw("{}", 8)},
  };
}

TEST(SafetensorsMessages, OfBrokenFiles) {
  const TempFolder folder;
  testing::MessageList list{folder.path()};
  for (const auto& group : {broken_headers(), broken_layouts()}) {
    for (const Broken& broken : group) {
      list.add(broken.name, load_safetensors(folder.write("weights", broken.bytes)), ErrorCode::corrupt);
    }
  }
  // Sparse: the size alone is what is refused.
  const auto large = folder.write("weights", claiming(100'000'001, raw("{}")));
  std::filesystem::resize_file(large, 100'000'009);
  list.add("a header larger than the format allows", load_safetensors(large), ErrorCode::corrupt);
  list.add("none", load_safetensors(folder.path() / "none"), ErrorCode::not_found);
  std::filesystem::create_directory(folder.path() / "folder");
  list.add("a folder", load_safetensors(folder.path() / "folder"), ErrorCode::io);
  EXPECT_GE(list.count(), 30U);
  list.expect_golden("messages/safetensors.expected");
}

TEST(SafetensorsMessages, OfWeightsThatFitNoModel) {
  const std::vector<Slot> slots{{"fc1.weight", {2, 3}, 0, 6, true}, {"fc1.bias", {2}, 16, 2, true}};
  const SafetensorsFile sound{{{"fc1.weight", {2, 3}, std::vector<float>(6)}, {"fc1.bias", {2}, {0, 0}}}, {}};
  std::vector<float> parameters(32);
  testing::MessageList list{"."};
  const auto add = [&](const char* name, const auto& break_one_thing) {
    SafetensorsFile file = sound;
    break_one_thing(file.tensors);
    list.add(name, fill_from(file, slots, parameters, "weights"), ErrorCode::mismatch);
  };
  add("no tensors", [](auto& tensors) { tensors.clear(); });
  add("a tensor missing", [](auto& tensors) { tensors.pop_back(); });
  add("a tensor too many", [](auto& tensors) { tensors.push_back({"fc2.weight", {1}, {0}}); });
  add("another name", [](auto& tensors) { tensors[0].name = "linear.weight"; });
  add("transposed", [](auto& tensors) { tensors[0].shape = {3, 2}; });
  add("flattened", [](auto& tensors) { tensors[0].shape = {6}; });
  add("a scalar", [](auto& tensors) { tensors[1] = {"fc1.bias", {}, {0}}; });
  add("another width", [](auto& tensors) { tensors[1] = {"fc1.bias", {3}, {0, 0, 0}}; });
  add("optimizer state alone", [](auto& tensors) {
    for (auto& tensor : tensors) tensor.name = "momentum/" + tensor.name;
  });
  list.expect_golden("messages/misfits.expected");
}

}  // namespace
}  // namespace thalweg::models
