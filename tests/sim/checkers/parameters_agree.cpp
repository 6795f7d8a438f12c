#include "tests/sim/checkers/parameters_agree.hpp"

#include <bit>

namespace thalweg::sim {

namespace {

std::uint64_t hash_of(std::span<const float> values) {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a over whole floats
  for (const float value : values) hash = (hash ^ std::bit_cast<std::uint32_t>(value)) * 1099511628211U;
  return hash;
}

}  // namespace

void ParametersAgree::look(const Message& message, const char* how) {
  const auto where = [&] {
    return how + std::string(message.from) + (message.to.empty() ? "" : " to ") + std::string(message.to);
  };
  if (const auto* parameters = message.as<Parameters>()) {
    compare(parameters->version(), parameters->payload, where());
  } else if (const auto* evaluate = message.as<actors::Evaluate>()) {
    compare(evaluate->version, evaluate->parameters, where());
  }
}

void ParametersAgree::compare(Version version, const Payload& payload, const std::string& where) {
  const auto hash = hash_of(payload->host());
  const auto [before, first] = seen_.try_emplace(version, Seen{hash, where});
  if (first || before->second.hash == hash) return;
  find("version " + std::to_string(version.value) + " " + where + " is not version " +
       std::to_string(version.value) + " " + before->second.where);
}

void ParametersAgree::ends(const Ending& ending) {
  if (!ending.outcome || !ending.outcome->snapshot) return;
  const auto& snapshot = *ending.outcome->snapshot;
  compare(snapshot.version, snapshot.parameters, "in the snapshot at the end");
}

}  // namespace thalweg::sim
