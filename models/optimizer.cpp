#include "models/optimizer.hpp"

#include "gpu/buffer.hpp"
#include "gpu/flat.hpp"
#include "models/stretches.hpp"
#include "runtime/check.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

namespace thalweg::models {
namespace {

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
    return in_blocks(stretches_, pool, [&](std::size_t from, std::size_t count, bool decay) {
      gpu::SgdCoefficients here = coefficients;
      here.weight_decay = decay ? weight_decay_ : 0.0F;
      gpu::sgd_step(next.subspan(from, count), w.subspan(from, count), gradient_sum.subspan(from, count),
                    velocity.empty() ? velocity : velocity.subspan(from, count), here);
      return gpu::all_finite(next.subspan(from, count));
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
    return in_blocks(stretches_, pool, [&](std::size_t from, std::size_t count, bool decay) {
      gpu::AdamWCoefficients here = coefficients;
      here.keep = decay ? static_cast<float>(1 - lr * weight_decay_) : 1.0F;
      gpu::adamw_step(next.subspan(from, count), w.subspan(from, count), gradient_sum.subspan(from, count),
                      mean_->values().subspan(from, count), square_->values().subspan(from, count), here);
      // Infinite here, a weight would never move again, and look well doing so.
      return gpu::all_finite(next.subspan(from, count)) &&
             gpu::all_finite(square_->values().subspan(from, count));
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

Result<std::unique_ptr<Optimizer>> make_outer_optimizer(std::string_view kind, double momentum,
                                                        std::vector<Slot> slots) {
  if (kind != "sgd" && kind != "nesterov") {
    return Error{ErrorCode::invalid, fmt::format("sync.outer = \"{}\": no such optimizer of moves: known are "
                                                 "\"sgd\" and \"nesterov\"",
                                                 kind)};
  }
  Config::Train train;
  train.optimizer = "sgd";
  train.momentum = momentum;
  train.nesterov = kind == "nesterov";
  train.weight_decay = 0;
  return make_optimizer(train, std::move(slots));
}

Result<std::unique_ptr<Optimizer>> make_inner_optimizer(std::string_view kind, const Config::Train& train,
                                                        std::vector<Slot> slots) {
  if (kind == "train") return make_optimizer(train, std::move(slots));
  if (kind != "sgd" && kind != "adamw") {
    return Error{ErrorCode::invalid,
                 fmt::format("sync.inner = \"{}\": no such optimizer of local steps: known "
                             "are \"sgd\", \"adamw\" and \"train\"",
                             kind)};
  }
  Config::Train inner;
  inner.optimizer = kind;
  inner.momentum = 0;
  inner.nesterov = false;
  inner.betas = {0.9, 0.95};
  inner.weight_decay = kind == "adamw" ? 0.1 : 0;
  return make_optimizer(inner, std::move(slots));
}

}  // namespace thalweg::models
