#include "models/safetensors.hpp"
#include "tests/fuzz/memory_file.hpp"
#include "tests/fuzz/message.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

/// Weights. An input is the file. One that loads must survive: saved and loaded it has the same tensors and
/// metadata bit for bit, saving again gives the same bytes, and its tensors fill the slots of a model made
/// for them, which a foreign model's slots never let them do halfway.
namespace thalweg::fuzz {
namespace {

using models::SafetensorsFile;

constexpr float untouched = 9;

/// A folder of this process in memory: saving goes through a second file and a rename, which take a real one.
class Folder {
 public:
  Folder() {
    const char* memory = "/dev/shm";
    std::error_code ignored;
    std::filesystem::path at = std::filesystem::is_directory(memory, ignored)
                                   ? std::filesystem::path(memory)
                                   : std::filesystem::temp_directory_path();
    std::string name = (at / "thalweg-fuzz-XXXXXX").string();
    THALWEG_CHECK(::mkdtemp(name.data()) != nullptr, "a folder can be made");
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

bool same_bits(std::span<const float> one, std::span<const float> other) {
  return one.size() == other.size() &&
         (one.empty() || std::memcmp(one.data(), other.data(), one.size_bytes()) == 0);
}

bool same(const SafetensorsFile& one, const SafetensorsFile& other) {
  return one.metadata == other.metadata &&
         std::ranges::equal(one.tensors, other.tensors, [](const auto& a, const auto& b) {
           return a.name == b.name && a.shape == b.shape && same_bits(a.values, b.values);
         });
}

std::vector<models::NamedTensor> tensors_in(const SafetensorsFile& file) {
  std::vector<models::NamedTensor> tensors;
  for (const auto& entry : file.tensors) tensors.push_back({entry.name, entry.shape, entry.values});
  return tensors;
}

void check_saving(const SafetensorsFile& file) {
  static const Folder folder;
  const auto saved = folder.path() / "saved";
  const auto status = models::save_safetensors(saved, tensors_in(file), file.metadata);
  THALWEG_CHECK(status.ok(), status.ok() ? "" : status.error().text);
  const auto again = models::load_safetensors(saved);
  THALWEG_CHECK(again.ok(), again.ok() ? "" : again.error().text);
  THALWEG_CHECK(same(file, *again), "what was saved is what is loaded");
}

/// Slots for the tensors of `file` that are no optimizer's state.
std::vector<Slot> slots_for(const SafetensorsFile& file) {
  std::vector<Slot> slots;
  std::size_t offset = 0;
  for (const auto& entry : file.tensors) {
    if (entry.name.find(models::state_separator) != std::string::npos) continue;
    slots.push_back({entry.name, entry.shape, offset, entry.values.size(), true});
    offset += (entry.values.size() + 15) / 16 * 16;
  }
  return slots;
}

void check_filling(const SafetensorsFile& file) {
  const auto slots = slots_for(file);
  std::vector<float> parameters(flat_size(slots), untouched);
  const auto status = models::fill_from(file, slots, parameters, "weights");
  THALWEG_CHECK(status.ok(), status.ok() ? "" : status.error().text);
  for (const auto& tensor : models::tensors_of(slots, parameters)) {
    const auto* entry = file.find(tensor.name);
    THALWEG_CHECK(entry != nullptr && same_bits(entry->values, tensor.values),
                  "a slot has its tensor's values");
  }
}

void check_foreign_model(const SafetensorsFile& file) {
  const std::vector<Slot> slots{{"fc1.weight", {2, 3}, 0, 6, true}, {"fc1.bias", {2}, 16, 2, true}};
  std::vector<float> parameters(flat_size(slots), untouched);
  const std::vector<float> before = parameters;
  const auto status = models::fill_from(file, slots, parameters, "weights");
  if (status.ok()) return;
  THALWEG_CHECK(status.error().code == ErrorCode::mismatch, "a sound file can only be a misfit");
  THALWEG_CHECK(parameters == before, "a misfit touches nothing");
  check_message(status.error(), "weights");
}

}  // namespace
}  // namespace thalweg::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace thalweg;
  static fuzz::MemoryFile file("weights");
  file.write({data, size});
  const auto loaded = models::load_safetensors(file.path());
  if (loaded.ok()) {
    fuzz::check_saving(*loaded);
    fuzz::check_filling(*loaded);
    fuzz::check_foreign_model(*loaded);
  } else {
    THALWEG_CHECK(loaded.error().code == ErrorCode::corrupt, "bytes can only be corrupt");
    fuzz::check_message(loaded.error(), file.path().string());
  }
  return 0;
}
