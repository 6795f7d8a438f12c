#include "models/optimizer.hpp"

#include "gpu/buffer.hpp"
#include "gpu/flat.hpp"
#include "runtime/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

namespace thalweg::models {
namespace {

/// From this size on a step is worth the pool's wake-up; and the piece a thread takes at a time.
constexpr std::size_t split_above = (1U << 20) / sizeof(float);
constexpr std::size_t split_grain = 1U << 14;
/// Floats that are stepped before they are looked at: four blocks of this size fit into a core's first cache.
constexpr std::size_t block = 2048;

/// Neighbouring slots that weight decay treats alike: as few kernel launches as possible.
struct Stretch {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool decay = true;
};

std::vector<Stretch> stretches_of(std::span<const Slot> slots) {
  std::vector<Stretch> stretches;
  for (const Slot& slot : slots) {
    if (stretches.empty() || stretches.back().decay != slot.decay) {
      if (!stretches.empty()) stretches.back().end = slot.offset;
      stretches.push_back({slot.offset, 0, slot.decay});
    }
  }
  if (!stretches.empty()) {
    stretches.front().begin = 0;
    stretches.back().end = flat_size(slots);
  }
  return stretches;
}

/// Calls `step(from, count, decay)` on blocks of the flat vector, over `pool` where it is large enough.
/// Returns whether every call
/// returned true and all of `next` is finite afterwards.
bool step_in_blocks(std::span<const Stretch> stretches, std::span<const float> next, TaskPool* pool,
                    const std::function<bool(std::size_t from, std::size_t count, bool decay)>& step) {
  std::atomic<bool> finite = true;
  const auto piece = [&](std::size_t begin, std::size_t end) {
    for (const Stretch& stretch : stretches) {
      const std::size_t to = std::min(end, stretch.end);
      for (std::size_t from = std::max(begin, stretch.begin); from < to; from += block) {
        const std::size_t count = std::min(block, to - from);
        if (!step(from, count, stretch.decay) || !gpu::all_finite(next.subspan(from, count))) finite = false;
      }
    }
  };
  if (pool && next.size() > split_above) {
    pool->parallel_for(next.size(), split_grain, piece);
  } else {
    piece(0, next.size());
  }
  return finite;
}

/// Copies `saved` over the states `wanted`, which must be the same ones. `owner` is the optimizer, in words.
Status restore_states(std::span<const Optimizer::NamedState> wanted,
                      std::span<const Optimizer::NamedState> saved, const std::string& owner) {
  std::string names;
  for (const auto& state : wanted) names += fmt::format("{}\"{}\"", names.empty() ? "" : " and ", state.name);
  std::vector<bool> found(wanted.size());
  for (const auto& state : saved) {
    const auto place = std::ranges::find(wanted, state.name, &Optimizer::NamedState::name);
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
    const auto place = std::ranges::find(wanted, state.name, &Optimizer::NamedState::name);
    std::ranges::copy(state.values, place->values.begin());
  }
  return {};
}

/// Stochastic gradient descent as torch.optim.SGD defines it (dampening 0); see gpu::sgd_step for the
/// formula.
class Sgd final : public Optimizer {
 public:
  Sgd(const Config::Train& train, std::span<const Slot> slots)
      : stretches_(stretches_of(slots)),
        size_(flat_size(slots)),
        momentum_(static_cast<float>(train.momentum)),
        weight_decay_(static_cast<float>(train.weight_decay)),
        nesterov_(train.nesterov) {}

  bool step(std::span<float> next, std::span<const float> w, std::span<const float> gradient_sum,
            double gradient_scale, double lr, TaskPool* pool) override {
    THALWEG_CHECK(next.size() == size_ && w.size() == size_ && gradient_sum.size() == size_,
                  "an optimizer's vectors have the size of its slots");
    if (momentum_ != 0) make_velocity();
    gpu::SgdCoefficients coefficients;
    coefficients.lr = static_cast<float>(lr);
    coefficients.momentum = momentum_;
    coefficients.gradient_scale = static_cast<float>(gradient_scale);
    coefficients.nesterov = nesterov_;
    coefficients.first = steps_ == 0;
    const std::span<float> velocity = this->velocity();
    ++steps_;
    return step_in_blocks(stretches_, next, pool, [&](std::size_t from, std::size_t count, bool decay) {
      gpu::SgdCoefficients here = coefficients;
      here.weight_decay = decay ? weight_decay_ : 0.0F;
      gpu::sgd_step(next.subspan(from, count), w.subspan(from, count), gradient_sum.subspan(from, count),
                    velocity.empty() ? velocity : velocity.subspan(from, count), here);
      return true;
    });
  }

  std::vector<NamedState> state() override {
    if (steps_ == 0 || momentum_ == 0) return {};
    return {{"momentum", velocity()}};
  }

  std::uint64_t steps() const override { return steps_; }

  Status restore(std::span<const NamedState> saved, std::uint64_t steps) override {
    std::vector<NamedState> wanted;
    if (momentum_ != 0 && steps > 0) {
      make_velocity();
      wanted.push_back({"momentum", velocity()});
    }
    auto restored =
        restore_states(wanted, saved, fmt::format("sgd with momentum {} after {} steps", momentum_, steps));
    if (restored) steps_ = steps;
    return restored;
  }

 private:
  void make_velocity() {
    if (!velocity_) velocity_ = gpu::BufferPool::make_host(size_, 1)->take();
  }
  std::span<float> velocity() { return velocity_ ? velocity_->values() : std::span<float>{}; }

  std::vector<Stretch> stretches_;
  std::size_t size_;
  float momentum_;
  float weight_decay_;
  bool nesterov_;
  std::uint64_t steps_ = 0;
  std::shared_ptr<gpu::Buffer> velocity_;  ///< null until it is needed
};

/// AdamW as torch.optim.AdamW defines it (no amsgrad); see gpu::adamw_step for the formula. (Loshchilov and
/// Hutter, "Decoupled Weight Decay Regularization", 2019.)
class AdamW final : public Optimizer {
 public:
  AdamW(const Config::Train& train, std::span<const Slot> slots)
      : stretches_(stretches_of(slots)),
        size_(flat_size(slots)),
        beta1_(train.betas[0]),
        beta2_(train.betas[1]),
        eps_(train.eps),
        weight_decay_(train.weight_decay),
        mean_(gpu::BufferPool::make_host(size_, 1)->take()),
        square_(gpu::BufferPool::make_host(size_, 1)->take()) {}

  bool step(std::span<float> next, std::span<const float> w, std::span<const float> gradient_sum,
            double gradient_scale, double lr, TaskPool* pool) override {
    THALWEG_CHECK(next.size() == size_ && w.size() == size_ && gradient_sum.size() == size_,
                  "an optimizer's vectors have the size of its slots");
    ++steps_;
    const auto t = static_cast<double>(steps_);
    gpu::AdamWCoefficients coefficients;
    coefficients.beta1 = static_cast<float>(beta1_);
    coefficients.beta2 = static_cast<float>(beta2_);
    coefficients.rest1 = static_cast<float>(1 - beta1_);
    coefficients.rest2 = static_cast<float>(1 - beta2_);
    coefficients.step_size = static_cast<float>(lr / (1 - std::pow(beta1_, t)));
    coefficients.root_correction = static_cast<float>(std::sqrt(1 - std::pow(beta2_, t)));
    coefficients.eps = static_cast<float>(eps_);
    coefficients.gradient_scale = static_cast<float>(gradient_scale);
    return step_in_blocks(stretches_, next, pool, [&](std::size_t from, std::size_t count, bool decay) {
      gpu::AdamWCoefficients here = coefficients;
      here.keep = decay ? static_cast<float>(1 - lr * weight_decay_) : 1.0F;
      gpu::adamw_step(next.subspan(from, count), w.subspan(from, count), gradient_sum.subspan(from, count),
                      mean_->values().subspan(from, count), square_->values().subspan(from, count), here);
      // Infinite here, a weight would never move again, and look well doing so.
      return gpu::all_finite(square_->values().subspan(from, count));
    });
  }

  std::vector<NamedState> state() override {
    if (steps_ == 0) return {};
    return {{"exp_avg", mean_->values()}, {"exp_avg_sq", square_->values()}};
  }

  std::uint64_t steps() const override { return steps_; }

  Status restore(std::span<const NamedState> saved, std::uint64_t steps) override {
    std::vector<NamedState> wanted;
    if (steps > 0) wanted = {{"exp_avg", mean_->values()}, {"exp_avg_sq", square_->values()}};
    auto restored = restore_states(wanted, saved, fmt::format("adamw after {} steps", steps));
    if (restored) steps_ = steps;
    return restored;
  }

 private:
  std::vector<Stretch> stretches_;
  std::size_t size_;
  double beta1_;
  double beta2_;
  double eps_;
  double weight_decay_;
  std::uint64_t steps_ = 0;
  std::shared_ptr<gpu::Buffer> mean_;    ///< of the gradient; zero at first
  std::shared_ptr<gpu::Buffer> square_;  ///< mean of its squares
};

}  // namespace

Result<std::unique_ptr<Optimizer>> make_optimizer(const Config::Train& train, std::vector<Slot> slots) {
  if (train.optimizer == "sgd") return std::unique_ptr<Optimizer>(std::make_unique<Sgd>(train, slots));
  if (train.optimizer == "adamw") return std::unique_ptr<Optimizer>(std::make_unique<AdamW>(train, slots));
  return Error{ErrorCode::invalid,
               fmt::format("train.optimizer = \"{}\": no such optimizer: known are \"sgd\" and "
                           "\"adamw\"",
                           train.optimizer)};
}

}  // namespace thalweg::models
