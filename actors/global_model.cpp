#include "actors/global_model.hpp"

#include "gpu/flat.hpp"
#include "models/clip.hpp"
#include "runtime/check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace thalweg::actors {

Result<std::unique_ptr<GlobalModel>> GlobalModel::make(Options options, const Snapshot& start,
                                                       std::uint32_t term) {
  std::unique_ptr<GlobalModel> model(new GlobalModel(std::move(options)));
  model->version_ = start.version;
  model->w_ = start.parameters;
  model->record_.term = term;
  model->record_.version = start.version;
  model->record_.committed_samples = start.committed_samples;
  model->committed_samples_ = start.committed_samples;
  model->repeated_samples_ = start.repeated_samples;
  model->record_.round = Round{start.version.value};
  model->ledger_ = start.ledger;
  model->quarantined_ = start.quarantined;
  model->refused_ = start.refused;
  if (!start.optimizer.empty()) {
    // The optimizer only reads the state; its interface shares one struct for saving and restoring.
    auto kept = start.optimizer;
    std::vector<models::NamedState> states;
    std::vector<models::NamedState> of_compensation;
    for (auto& state : kept) {
      const bool other = state.name == models::DelayCompensation::mean_square_name;
      (other ? of_compensation : states).push_back({state.name, state.values});
    }
    if (model->options_.compensation) {
      auto restored = model->options_.compensation->restore(of_compensation, start.optimizer_steps);
      if (!restored) return restored.error();
    }
    if (auto restored = model->options_.optimizer->restore(states, start.optimizer_steps); !restored) {
      return restored.error();
    }
  }
  model->tell_ledger();
  return model;
}

Parameters GlobalModel::current() const {
  Parameters parameters{w_, record_, {}, {}, {}, 0, told_};
  return parameters;
}

/// A copy, since what was sent with earlier versions must not change.
void GlobalModel::tell_ledger() {
  if (!options_.tells_ledger) return;
  told_ = std::make_shared<const Ledger>(Ledger{ledger_, quarantined_, repeated_samples_, refused_});
}

bool GlobalModel::reserve_next() {
  if (!next_) next_ = options_.parameters->take();
  return next_ != nullptr;
}

/// What the sum is scaled with so that its mean is no longer than clip_norm.
double GlobalModel::clip(const Step& step, TaskPool* pool) const {
  if (options_.clip_norm == 0 || step.norm <= options_.clip_norm * static_cast<double>(step.samples))
    return 1;
  return models::clip_scale(step.sum->host(), step.samples, options_.clip_norm, pool);
}

bool GlobalModel::take(const Step& step, TaskPool* pool) {
  THALWEG_CHECK(next_ != nullptr, "a buffer is reserved before the step");
  const auto sum = step.sum->host();
  // No element of a sum is larger than its norm; half of what a float holds leaves room for rounding.
  const bool certain = step.norm <= std::numeric_limits<float>::max() / 2;
  if (!certain && !gpu::all_finite(sum)) return false;
  whole_ = false;
  const auto samples = static_cast<double>(step.samples);
  if (options_.outer_lr > 0) {
    return options_.optimizer->step(next_->values(), w_->host(), sum, 1 / samples, options_.outer_lr, pool);
  }
  const double scale = clip(step, pool) / samples;
  const double lr = options_.schedule.lr_at(committed_samples_) * step.lr_factor;
  if (options_.compensation) return take_compensated(step, scale, lr, pool);
  return options_.optimizer->step(next_->values(), w_->host(), sum, scale, lr, pool);
}

bool GlobalModel::take_compensated(const Step& step, double scale, double lr, TaskPool* pool) {
  const auto corrected = options_.scratch->take();
  THALWEG_CHECK(corrected != nullptr, "one step is taken at a time");
  const auto& base = step.base ? step.base : before_ ? before_ : w_;
  const bool finite = options_.compensation->compensate(corrected->values(), step.sum->host(), scale,
                                                        w_->host(), base->host(), pool);
  return finite && options_.optimizer->step(next_->values(), w_->host(), corrected->host(), 1, lr, pool);
}

void GlobalModel::commit(const Contribution& round, Round next, bool last) {
  THALWEG_CHECK(next_ != nullptr, "a step is taken before its commit");
  if (options_.compensation) before_ = w_;
  w_ = std::move(next_);
  next_ = nullptr;
  whole_ = true;
  version_ = version_.next();
  committed_samples_ += round.samples;
  for (const auto& range : round.spent) repeated_samples_ += add_range(ledger_, range);
  keep(round.refused);
  record_.version = version_;
  record_.round = next;
  record_.committed_samples = committed_samples_;
  record_.spent = round.spent;
  record_.last = last;
  tell_ledger();
}

void GlobalModel::skip(const Contribution& round, Round next, bool last) {
  keep(round.refused);
  record_.round = next;
  record_.last = last;
  tell_ledger();
}

/// What is refused a second time is not tried again.
void GlobalModel::keep(const std::vector<Refusal>& refused) {
  refused_ += refused.size();
  for (const auto& refusal : refused) {
    if (!refusal.again) continue;
    for (const auto& range : refusal.spent) add_range(quarantined_, range);
  }
}

std::shared_ptr<const Snapshot> GlobalModel::snapshot() const {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->version = version_;
  snapshot->parameters = w_;
  const auto keep_state = [&](const auto& states) {
    for (const auto& state : states) {
      snapshot->optimizer.push_back({state.name, {state.values.begin(), state.values.end()}});
    }
  };
  keep_state(options_.optimizer->state());
  if (options_.compensation) keep_state(options_.compensation->state());
  snapshot->optimizer_steps = options_.optimizer->steps();
  snapshot->whole = whole_;
  snapshot->committed_samples = committed_samples_;
  snapshot->ledger = ledger_;
  snapshot->repeated_samples = repeated_samples_;
  snapshot->quarantined = quarantined_;
  snapshot->refused = refused_;
  return snapshot;
}

}  // namespace thalweg::actors
