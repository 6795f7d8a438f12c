#pragma once

#include "actors/rules/adopt.hpp"
#include "actors/rules/local.hpp"
#include "actors/rules/merge.hpp"
#include "actors/rules/pace.hpp"
#include "actors/rules/trigger.hpp"

#include <thalweg/config.hpp>
#include <thalweg/result.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/// A synchronization method is five choices; a named method is a preset of them.
namespace thalweg::rules {

/// The five parts, as makers: every worker and every aggregator gets rules of its own.
struct Method {
  std::string name;
  std::unique_ptr<LocalRule> (*local)() = nullptr;      ///< what a worker does before it contributes
  std::unique_ptr<PaceRule> (*pace)() = nullptr;        ///< when a worker may go on
  std::unique_ptr<TriggerRule> (*trigger)() = nullptr;  ///< when an aggregator closes a round, at every level
  std::unique_ptr<MergeRule> (*merge)() = nullptr;      ///< what a round does to w, at the root
  std::unique_ptr<AdoptRule> (*adopt)() = nullptr;      ///< what a worker does with new parameters
  bool goes_on_without_members = false;                 ///< rounds close over the rest when a worker is lost
};

/// The preset `config.sync.method`.
/// Fails: `invalid`, naming the methods there are.
Result<Method> find_method(const Config& config);

}  // namespace thalweg::rules
