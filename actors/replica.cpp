#include "actors/replica.hpp"

#include "gpu/flat.hpp"
#include "models/clip.hpp"
#include "runtime/check.hpp"

#include <limits>
#include <utility>

namespace thalweg::actors {

using Adopt = rules::AdoptRule::Kind;

std::shared_ptr<gpu::Buffer> Replica::take() {
  auto buffer = options_.buffers->take();
  THALWEG_CHECK(buffer != nullptr, "a replica's pool has all the buffers that it needs");
  return buffer;
}

void Replica::begin(const Parameters* fresh, const Mean& behind) {
  if (fresh != nullptr) w_ = *fresh;
  // A phase that was no good is refused: nothing of it is kept.
  const bool good = std::exchange(finite_, true);
  const bool moved = good && x_ && at_ == x_;
  switch (options_.method.adopt.kind) {
    case Adopt::replace:
      at_ = w_.payload;
      start_ = at_;
      return;
    case Adopt::keep_local:
      if (!moved) {
        at_ = w_.payload;
      } else if (fresh != nullptr) {
        shift();
      }
      return keep_start();
    case Adopt::mix:
      if (!moved) {
        at_ = w_.payload;
      } else if (fresh != nullptr) {
        gpu::mix(x_->values(), w_.payload->host(), static_cast<float>(options_.method.adopt.share));
      }
      return keep_start();
    case Adopt::eager:
      if (!theta_) {
        theta_ = take();
        gpu::copy(theta_->values(), w_.payload->host());
      } else if (moved_) {
        outer_step(behind);
      }
      at_ = theta_;
      start_ = at_;
      return;
  }
}

void Replica::adopt(const Parameters& fresh) {
  w_ = fresh;
  if (!x_ || at_ != x_ || !finite_) {
    at_ = w_.payload;
    return;
  }
  switch (options_.method.adopt.kind) {
    case Adopt::replace:
      at_ = w_.payload;
      return;
    case Adopt::keep_local:
      return shift();
    case Adopt::mix:
      return gpu::mix(x_->values(), w_.payload->host(), static_cast<float>(options_.method.adopt.share));
    case Adopt::eager:
      return;  // it waits for the end of the phase
  }
}

/// x = w + what it moved since the phase began.
void Replica::shift() { gpu::shift(x_->values(), w_.payload->host(), x_->host(), start_->host()); }

/// Remembers where the phase begins.
void Replica::keep_start() {
  start_ = at_;
  if (!x_ || at_ != x_) return;
  if (!copy_) copy_ = take();
  gpu::copy(copy_->values(), x_->host());
  start_ = copy_;
}

bool Replica::step(std::span<const float> gradient_sum, std::uint64_t samples, bool good) {
  // An optimizer that takes a NaN into its state never gets rid of it.
  if (!good) return finite_ = false;
  if (!x_) x_ = take();
  const double clip = models::clip_scale(gradient_sum, samples, options_.method.inner_clip, nullptr);
  const bool finite =
      options_.inner->step(x_->values(), at_->host(), gradient_sum, clip / static_cast<double>(samples),
                           options_.schedule.lr_at(w_.record.committed_samples), nullptr);
  at_ = x_;
  finite_ = finite_ && finite;
  return finite;
}

void Replica::move(std::span<float> move, std::uint64_t samples) {
  if (finite_) {
    gpu::move(move, start_->host(), at_->host(), static_cast<float>(samples));
  } else {
    gpu::fill(move, std::numeric_limits<float>::quiet_NaN());
  }
  if (options_.method.adopt.kind != Adopt::eager) return;
  std::swap(own_, own_before_);
  if (!own_) own_ = take();
  if (finite_) {
    gpu::move(own_->values(), start_->host(), at_->host(), 1.0F);
  } else {
    gpu::fill(own_->values(), 0.0F);
  }
  own_samples_ = finite_ ? samples : 0;
  moved_ = true;
}

/// theta takes the outer step along Δ̃ = Δ' + (n_m/Σn)(Δ_m - Δ_m'), where ' is the round before: its true
/// mean, with what the worker itself did since in place of what it did then. (Kale et al., "Eager updates for
/// overlapped communication and computation in DiLoCo", 2025.)
void Replica::outer_step(const Mean& behind) {
  if (!estimate_) estimate_ = take();
  const auto estimate = estimate_->values();
  gpu::fill(estimate, 0.0F);
  double share = options_.share;
  if (behind.moves) {
    gpu::axpy(estimate, 1.0F / static_cast<float>(behind.samples), behind.moves->host());
    share = static_cast<double>(own_samples_) / static_cast<double>(behind.samples);
  }
  gpu::axpy(estimate, static_cast<float>(share), own_->host());
  if (own_before_) gpu::axpy(estimate, static_cast<float>(-share), own_before_->host());
  options_.outer->step(theta_->values(), theta_->host(), estimate_->host(), 1, options_.method.outer_lr,
                       nullptr);
}

}  // namespace thalweg::actors
