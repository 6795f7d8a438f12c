#include "models/optimizer.hpp"

#include "gpu/buffer.hpp"
#include "gpu/flat.hpp"
#include "runtime/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
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
            std::uint64_t samples, double lr, TaskPool* pool) override {
    THALWEG_CHECK(next.size() == size_ && w.size() == size_ && gradient_sum.size() == size_,
                  "an optimizer's vectors have the size of its slots");
    THALWEG_CHECK(samples > 0, "a mean is taken over at least one sample");
    if (momentum_ != 0) make_velocity();
    gpu::SgdCoefficients coefficients;
    coefficients.lr = static_cast<float>(lr);
    coefficients.momentum = momentum_;
    coefficients.gradient_scale = static_cast<float>(1.0 / static_cast<double>(samples));
    coefficients.nesterov = nesterov_;
    coefficients.first = steps_ == 0;
    const std::span<float> velocity = this->velocity();
    std::atomic<bool> finite = true;
    const auto piece = [&](std::size_t begin, std::size_t end) {
      for (const Stretch& stretch : stretches_) {
        gpu::SgdCoefficients here = coefficients;
        here.weight_decay = stretch.decay ? weight_decay_ : 0.0F;
        const std::size_t to = std::min(end, stretch.end);
        for (std::size_t from = std::max(begin, stretch.begin); from < to; from += block) {
          const std::size_t count = std::min(block, to - from);
          const auto moved = next.subspan(from, count);
          gpu::sgd_step(moved, w.subspan(from, count), gradient_sum.subspan(from, count),
                        velocity.empty() ? velocity : velocity.subspan(from, count), here);
          if (!gpu::all_finite(moved)) finite = false;
        }
      }
    };
    if (pool && size_ > split_above) {
      pool->parallel_for(size_, split_grain, piece);
    } else {
      piece(0, size_);
    }
    ++steps_;
    return finite;
  }

  std::vector<NamedState> state() override {
    if (steps_ == 0 || momentum_ == 0) return {};
    return {{"momentum", velocity()}};
  }

  std::uint64_t steps() const override { return steps_; }

  Status restore(std::span<const NamedState> saved, std::uint64_t steps) override {
    const bool wanted = momentum_ != 0 && steps > 0;
    const NamedState* momentum = nullptr;
    for (const NamedState& state : saved) {
      if (!wanted || state.name != "momentum" || momentum) {
        return Error{
            ErrorCode::mismatch,
            fmt::format("optimizer state \"{}\" is surplus: sgd with momentum {} after {} steps has {}",
                        state.name, momentum_, steps, wanted ? "one \"momentum\"" : "none")};
      }
      momentum = &state;
    }
    if (wanted && !momentum) {
      return Error{
          ErrorCode::mismatch,
          fmt::format("optimizer state \"momentum\" is missing: sgd with momentum {} needs it", momentum_)};
    }
    if (momentum && momentum->values.size() != size_) {
      return Error{ErrorCode::mismatch,
                   fmt::format("optimizer state \"momentum\" has {} values: the model has {}",
                               momentum->values.size(), size_)};
    }
    if (momentum) {
      make_velocity();
      std::copy(momentum->values.begin(), momentum->values.end(), velocity().begin());
    }
    steps_ = steps;
    return {};
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

}  // namespace

Result<std::unique_ptr<Optimizer>> make_optimizer(const Config::Train& train, std::vector<Slot> slots) {
  if (train.optimizer == "sgd") return std::unique_ptr<Optimizer>(std::make_unique<Sgd>(train, slots));
  return Error{ErrorCode::invalid,
               fmt::format("train.optimizer = \"{}\": no such optimizer: known is \"sgd\"", train.optimizer)};
}

}  // namespace thalweg::models
