#include "actors/checkpoint.hpp"

#include "runtime/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

namespace thalweg::actors {

namespace {

constexpr std::string_view schema = "1";

Error corrupt(const std::filesystem::path& file, const std::string& why) {
  return {ErrorCode::corrupt,
          fmt::format("{}: is no whole checkpoint: {}: choose another one", file.string(), why)};
}

/// Takes a number from the front of `text`.
bool take_number(std::string_view& text, std::uint64_t& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return true;
}

bool take(std::string_view& text, char wanted) {
  if (!text.starts_with(wanted)) return false;
  text.remove_prefix(1);
  return true;
}

/// Reads the metadata of one checkpoint, and remembers the first thing that is wrong with them.
class Metadata {
 public:
  explicit Metadata(const std::map<std::string, std::string>& entries) : entries_(entries) {}

  std::string text(const std::string& name) {
    const auto found = entries_.find(name);
    if (found != entries_.end()) return found->second;
    complain(fmt::format("'{}' is missing in its metadata", name));
    return "";
  }
  std::uint64_t number(const std::string& name) {
    const auto written = text(name);
    std::string_view left = written;
    std::uint64_t number = 0;
    if (!take_number(left, number) || !left.empty()) {
      complain(fmt::format("'{}' in its metadata is no number", name));
    }
    return number;
  }
  std::vector<IndexRange> ranges(const std::string& name) {
    auto ranges = read_ranges(text(name));
    if (ranges) return std::move(ranges).value();
    complain(fmt::format("'{}' in its metadata {}", name, ranges.error().text));
    return {};
  }
  void complain(const std::string& why) {
    if (complaint_.empty()) complaint_ = why;
  }
  [[nodiscard]] const std::string& complaint() const { return complaint_; }

 private:
  const std::map<std::string, std::string>& entries_;
  std::string complaint_;
};

/// The optimizer's states in `file`, each a flat vector put together again.
Result<std::vector<Snapshot::OptimizerState>> optimizer_states(const models::SafetensorsFile& file,
                                                               std::span<const Slot> slots,
                                                               const std::string& name) {
  std::vector<Snapshot::OptimizerState> states;
  for (const auto& tensor : file.tensors) {
    const auto cut = tensor.name.find(models::state_separator);
    if (cut == std::string::npos) continue;
    const auto kind = tensor.name.substr(0, cut);
    const auto slot = std::ranges::find(slots, tensor.name.substr(cut + 1), &Slot::name);
    if (slot == slots.end() || slot->shape != tensor.shape) {
      return Error{ErrorCode::mismatch,
                   fmt::format("{} does not fit the model: its tensor {} does not", name, tensor.name)};
    }
    auto state = std::ranges::find(states, kind, &Snapshot::OptimizerState::name);
    if (state == states.end()) {
      states.push_back({kind, std::vector<float>(flat_size(slots))});
      state = states.end() - 1;
    }
    std::ranges::copy(tensor.values, state->values.begin() + static_cast<std::ptrdiff_t>(slot->offset));
  }
  return states;
}

}  // namespace

std::string ranges_text(const std::vector<IndexRange>& ranges) {
  std::string text;
  for (const auto& range : ranges) {
    text += fmt::format("{}{}:{}+{}", text.empty() ? "" : " ", range.epoch, range.begin, range.count);
  }
  return text;
}

Result<std::vector<IndexRange>> read_ranges(const std::string& text) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  const Error wrong{ErrorCode::corrupt, "is no list of ranges"};
  std::vector<IndexRange> ranges;
  std::string_view left = text;
  while (!left.empty()) {
    if (!ranges.empty() && !take(left, ' ')) return wrong;
    IndexRange range;
    if (!take_number(left, range.epoch) || !take(left, ':') || !take_number(left, range.begin) ||
        !take(left, '+') || !take_number(left, range.count)) {
      return wrong;
    }
    if (range.count == 0 || range.begin > most - range.count) return wrong;
    const bool rises = ranges.empty() || ranges.back().epoch < range.epoch ||
                       (ranges.back().epoch == range.epoch && ranges.back().end() < range.begin);
    if (!rises) return wrong;
    ranges.push_back(range);
  }
  return ranges;
}

namespace {

/// What of the job a checkpoint belongs to.
std::map<std::string, std::string> job_of(const Config& config) {
  return {{"model", config.model.name},
          {"method", config.sync.method},
          {"data", config.data.name},
          {"seed", std::to_string(config.run.seed)},
          {"optimizer", config.train.optimizer}};
}

/// Of tensors, their names and the metadata, but for the checksum itself.
std::uint32_t checksum_of(const CheckpointFile& file) {
  std::string text;
  for (const auto& [name, value] : file.metadata) {
    if (name != "crc32") text += name + '=' + value + '\n';
  }
  for (const auto& tensor : file.tensors) text += tensor.name + '\n';
  return models::checksum_of(file.tensors, text);
}

}  // namespace

std::string checkpoint_name(std::uint64_t version) { return fmt::format("version-{}.safetensors", version); }

CheckpointFile checkpoint_of(const Config& config, std::span<const Slot> slots, const Snapshot& snapshot) {
  CheckpointFile file;
  file.tensors = models::tensors_of(slots, snapshot.parameters->host());
  for (const auto& state : snapshot.optimizer) {
    for (auto tensor : models::tensors_of(slots, state.values)) {
      tensor.name = state.name + models::state_separator + tensor.name;
      file.tensors.push_back(std::move(tensor));
    }
  }
  file.metadata = job_of(config);
  file.metadata.merge(
      std::map<std::string, std::string>{{"schema", std::string(schema)},
                                         {"version", std::to_string(snapshot.version.value)},
                                         {"committed_samples", std::to_string(snapshot.committed_samples)},
                                         {"repeated_samples", std::to_string(snapshot.repeated_samples)},
                                         {"refused", std::to_string(snapshot.refused)},
                                         {"optimizer_steps", std::to_string(snapshot.optimizer_steps)},
                                         {"ledger", ranges_text(snapshot.ledger)},
                                         {"quarantined", ranges_text(snapshot.quarantined)}});
  file.metadata["crc32"] = std::to_string(checksum_of(file));
  return file;
}

Result<Snapshot> read_checkpoint(const std::filesystem::path& file, const Config& config,
                                 std::span<const Slot> slots, gpu::BufferPool& pool) {
  const auto loaded = models::load_safetensors(file);
  if (!loaded) return loaded.error();
  Metadata metadata(loaded->metadata);
  if (metadata.text("schema") != schema) metadata.complain("its schema is not " + std::string(schema));

  Snapshot snapshot;
  snapshot.version = Version{metadata.number("version")};
  snapshot.committed_samples = metadata.number("committed_samples");
  snapshot.repeated_samples = metadata.number("repeated_samples");
  snapshot.refused = metadata.number("refused");
  snapshot.optimizer_steps = metadata.number("optimizer_steps");
  snapshot.ledger = metadata.ranges("ledger");
  snapshot.quarantined = metadata.ranges("quarantined");
  CheckpointFile found{{}, loaded->metadata};
  for (const auto& entry : loaded->tensors) found.tensors.push_back({entry.name, entry.shape, entry.values});
  if (metadata.number("crc32") != checksum_of(found)) {
    metadata.complain("its contents do not have the checksum that was written with them");
  }
  if (file.filename() != checkpoint_name(snapshot.version.value)) {
    metadata.complain("it holds version " + std::to_string(snapshot.version.value));
  }
  if (total(snapshot.ledger) + snapshot.repeated_samples != snapshot.committed_samples) {
    metadata.complain("its ledger does not add up to its samples");
  }
  if (!metadata.complaint().empty()) return corrupt(file, metadata.complaint());
  for (const auto& [name, wanted] : job_of(config)) {
    if (const auto made = metadata.text(name); made != wanted) {
      return Error{
          ErrorCode::mismatch,
          fmt::format("{} was made with {} {}, and the job says {}: a job that goes on stays as it was",
                      file.string(), name, made, wanted)};
    }
  }

  auto states = optimizer_states(*loaded, slots, file.string());
  if (!states) return states.error();
  snapshot.optimizer = std::move(states).value();
  const auto parameters = pool.take();
  THALWEG_CHECK(parameters != nullptr, "a fresh pool has buffers");
  if (auto filled = models::fill_from(*loaded, slots, parameters->values(), file.string()); !filled) {
    return filled.error();
  }
  snapshot.parameters = parameters;
  return snapshot;
}

}  // namespace thalweg::actors
