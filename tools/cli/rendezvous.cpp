#include "tools/cli/rendezvous.hpp"

#include "models/durable_file.hpp"
#include "runtime/net/keys.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <fstream>
#include <span>
#include <system_error>
#include <unistd.h>

namespace thalweg::cli {
namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* identity = "root.json";

Json read_identity(const fs::path& run_folder) {
  std::ifstream in(run_folder / identity);
  return Json::parse(in, nullptr, false);
}

Status write_identity(const fs::path& run_folder, const Json& json) {
  const std::string text = json.dump() + "\n";
  const std::array parts = {std::as_bytes(std::span(text))};
  return models::write_durably(run_folder / identity, parts);
}

bool is_of(const Json& json, pid_t process) {
  return json.is_object() && json.contains("pid") && json["pid"] == process;
}

}  // namespace

Result<fs::path> local_keys(const fs::path& run_folder) {
  fs::path made = run_folder / "keys" / "local";
  std::error_code unknown;
  if (fs::exists(made, unknown)) return made;
  return net::make_local_keys(run_folder / "keys");
}

Status tell_address(const fs::path& run_folder, const std::string& address) {
  Json json = read_identity(run_folder);
  if (!json.is_object()) {
    return Error{ErrorCode::corrupt, fmt::format("{}: is no JSON object, so nobody can be told where this "
                                                 "root listens",
                                                 (run_folder / identity).string())};
  }
  json["pid"] = ::getpid();
  json["address"] = address;
  return write_identity(run_folder, json);
}

Status forget_address(const fs::path& run_folder) {
  Json json = read_identity(run_folder);
  if (!is_of(json, ::getpid()) || json.erase("address") == 0) return {};
  return write_identity(run_folder, json);
}

std::optional<std::string> address_in(const fs::path& run_folder) {
  const Json json = read_identity(run_folder);
  if (!json.is_object() || !json.contains("address") || !json["address"].is_string()) return std::nullopt;
  return json["address"].get<std::string>();
}

std::optional<std::string> address_of(const fs::path& run_folder, pid_t root) {
  const Json json = read_identity(run_folder);
  if (!is_of(json, root) || !json.contains("address") || !json["address"].is_string()) return std::nullopt;
  return json["address"].get<std::string>();
}

}  // namespace thalweg::cli
