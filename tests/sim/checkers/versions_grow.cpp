#include "tests/sim/checkers/versions_grow.hpp"

#include "actors/rules/method.hpp"

namespace thalweg::sim {

void VersionsGrow::begins(const Job& job, const rules::LockstepSampling& /*sampling*/,
                          const actors::Snapshot* /*start*/) {
  const auto method = rules::find_method(job.config);
  by_rounds_ = method && method->by_rounds();
}

void VersionsGrow::sent(const Message& message) {
  if (const auto* committed = message.as<actors::Committed>()) make(committed->record.version);
  newcomers_ = newcomers_ || message.as<actors::Joined>() != nullptr;
  const auto* parameters = message.as<Parameters>();
  if (parameters == nullptr) return;
  const auto version = parameters->version();
  if (message.from == "root") make(version);
  const auto pair = std::string(message.from) + " to " + std::string(message.to);
  const Seen seen{version, parameters->record.round};
  const auto [before, first] = sent_.try_emplace(pair, seen);
  if (first) return;
  // A newcomer may be told by whoever welcomes it and by whoever goes on without knowing of it.
  const bool same = version == before->second.version && seen.round == before->second.round;
  if (same && newcomers_) return;
  if (version < before->second.version) {
    find(pair + ": version " + std::to_string(version.value) + " after version " +
         std::to_string(before->second.version.value));
  } else if (by_rounds_ ? seen.round <= before->second.round : seen.round < before->second.round) {
    find(pair + ": version " + std::to_string(version.value) + " opens round " +
         std::to_string(seen.round.value) + ", after the one that opened round " +
         std::to_string(before->second.round.value));
  } else {
    before->second = seen;
  }
}

void VersionsGrow::make(Version version) {
  if (newest_ && version <= *newest_) return;
  if (newest_ && version != newest_->next()) {
    find("root made version " + std::to_string(version.value) + " after version " +
         std::to_string(newest_->value));
  }
  newest_ = version;
}

void VersionsGrow::decided(std::string_view who, const rules::Reason& reason) {
  if (std::string_view(reason.sentence) != "adopts version {}") return;
  const auto version = reason.numbers[0];
  const auto [before, first] = adopted_.try_emplace(std::string(who), version);
  if (!first && version <= before->second) {
    find(std::string(who) + " adopts version " + std::to_string(version) + " after version " +
         std::to_string(before->second));
  }
  before->second = version;
}

void VersionsGrow::ends(const Ending& ending) {
  if (!ending.outcome || !ending.outcome->snapshot || !newest_) return;
  const auto last = ending.outcome->snapshot->version;
  if (last != *newest_) {
    find("the run ends with version " + std::to_string(last.value) + ", the last that was sent is version " +
         std::to_string(newest_->value));
  }
}

}  // namespace thalweg::sim
