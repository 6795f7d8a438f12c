#include "models/named_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace thalweg::models {

Status restore_states(std::span<const NamedState> wanted, std::span<const NamedState> saved,
                      const std::string& owner) {
  std::string names;
  for (const auto& state : wanted) names += fmt::format("{}\"{}\"", names.empty() ? "" : " and ", state.name);
  std::vector<bool> found(wanted.size());
  for (const auto& state : saved) {
    const auto place = std::ranges::find(wanted, state.name, &NamedState::name);
    if (place == wanted.end() || found[static_cast<std::size_t>(place - wanted.begin())]) {
      return Error{ErrorCode::mismatch,
                   fmt::format("optimizer state \"{}\" is surplus: {} has {}", state.name, owner,
                               names.empty() ? "none" : "one " + names)};
    }
    if (state.values.size() != place->values.size()) {
      return Error{ErrorCode::mismatch, fmt::format("optimizer state \"{}\" has {} values: the model has {}",
                                                    state.name, state.values.size(), place->values.size())};
    }
    found[static_cast<std::size_t>(place - wanted.begin())] = true;
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (found[i]) continue;
    return Error{ErrorCode::mismatch,
                 fmt::format("optimizer state \"{}\" is missing: {} needs it", wanted[i].name, owner)};
  }
  for (const auto& state : saved) {
    const auto place = std::ranges::find(wanted, state.name, &NamedState::name);
    std::ranges::copy(state.values, place->values.begin());
  }
  return {};
}

}  // namespace thalweg::models
