#include "tests/fuzz/memory_file.hpp"
#include "tests/fuzz/message.hpp"

#include <thalweg/config.hpp>

#include <algorithm>
#include <string_view>

/// Job files and flags. An input is a job file; after a zero byte come flags, `section.key=value`, each ended
/// by another zero byte. A job that loads must be whole: printed as a job file it says the same job, and
/// resolving it again changes nothing.
namespace thalweg::fuzz {
namespace {

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string_view take_until_zero(std::string_view& text) {
  const std::size_t end = std::min(text.find('\0'), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), end + 1));
  return part;
}

std::vector<Override> overrides_of(std::string_view text) {
  std::vector<Override> overrides;
  while (!text.empty()) {
    const std::string_view part = take_until_zero(text);
    const std::size_t equals = std::min(part.find('='), part.size());
    overrides.push_back({std::string(part.substr(0, equals)),
                         std::string(part.substr(std::min(part.size(), equals + 1))), "--set"});
  }
  return overrides;
}

void check_job(const Config& config) {
  static MemoryFile printed("printed");
  const std::string text = print_config(config);
  printed.write(bytes_of(text));
  const auto again = load_config(printed.path(), {});
  THALWEG_CHECK(again.ok(), again.ok() ? "" : again.error().text);
  THALWEG_CHECK(*again == config, "a printed job file says what was printed");
  THALWEG_CHECK(print_config(*again) == text, "printing again gives the same text");
  const auto resolved = resolve_config(config);
  THALWEG_CHECK(resolved.ok(), resolved.ok() ? "" : resolved.error().text);
  THALWEG_CHECK(*resolved == config, "a resolved job is resolved");
  THALWEG_CHECK(config.global_batch() >= config.topology.tree.worker_count(), "every worker has a sample");
}

}  // namespace
}  // namespace thalweg::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace thalweg;
  static fuzz::MemoryFile file("job");
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  file.write(fuzz::bytes_of(fuzz::take_until_zero(rest)));
  const auto config = load_config(file.path(), fuzz::overrides_of(rest));
  if (config.ok()) {
    fuzz::check_job(*config);
  } else {
    THALWEG_CHECK(config.error().code == ErrorCode::invalid, "a job that can be read can only be invalid");
    THALWEG_CHECK(config::is_plain_text(config.error().text),
                  "a message is one line of UTF-8 without control characters");
  }
  return 0;
}
