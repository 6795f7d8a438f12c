#pragma once

#include "actors/rules/decision.hpp"

#include <cstdint>

/// First choice, `local`: what does a worker do before it contributes?
namespace thalweg::rules {

/// What the worker has done since its last contribution.
struct LocalView {
  std::uint64_t steps = 0;
};

enum class LocalAction { contribute };

class LocalRule {
 public:
  virtual ~LocalRule() = default;
  [[nodiscard]] virtual Decision<LocalAction> after_step(const LocalView& view) const = 0;
};

/// `steps = 1`: the gradient of every batch is contributed at once.
class OneStep final : public LocalRule {
 public:
  [[nodiscard]] Decision<LocalAction> after_step(const LocalView& view) const override {
    return {LocalAction::contribute, {"contributes after each step, this one being step {}", {view.steps}}};
  }
};

}  // namespace thalweg::rules
