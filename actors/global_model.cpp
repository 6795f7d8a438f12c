#include "actors/global_model.hpp"

#include "gpu/flat.hpp"
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
    std::vector<models::Optimizer::NamedState> states;
    for (auto& state : kept) states.push_back({state.name, state.values});
    if (auto restored = model->options_.optimizer->restore(states, start.optimizer_steps); !restored) {
      return restored.error();
    }
  }
  return model;
}

Parameters GlobalModel::current() const { return {w_, record_}; }

bool GlobalModel::reserve_next() {
  if (!next_) next_ = options_.parameters->take();
  return next_ != nullptr;
}

/// What the sum is scaled with so that its mean is no longer than clip_norm.
/// (torch.nn.utils.clip_grad_norm_.)
double GlobalModel::clip(const FlatVector& gradient_sum, std::uint64_t samples, double norm,
                         TaskPool* pool) const {
  const double most = options_.clip_norm * static_cast<double>(samples);
  if (options_.clip_norm == 0 || norm <= most) return 1;
  // Pieces of one size, added in their order, give the same bits on any number of threads.
  constexpr std::size_t piece = std::size_t{1} << 16;
  const auto values = gradient_sum.host();
  std::vector<double> squares((values.size() + piece - 1) / piece);
  const auto add = [&](std::size_t begin, std::size_t end) {
    for (; begin < end; begin += piece) {
      squares[begin / piece] = gpu::squared_norm(values.subspan(begin, std::min(piece, end - begin)));
    }
  };
  if (pool != nullptr) {
    pool->parallel_for(values.size(), piece, add);
  } else {
    add(0, values.size());
  }
  const double exact = std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
  return std::min(1.0, most / (exact + 1e-6 * static_cast<double>(samples)));
}

bool GlobalModel::step(const FlatVector& gradient_sum, std::uint64_t samples, double norm, TaskPool* pool) {
  THALWEG_CHECK(next_ != nullptr, "a buffer is reserved before the step");
  // No element of a sum is larger than its norm; half of what a float holds leaves room for rounding.
  const bool certain = norm <= std::numeric_limits<float>::max() / 2;
  if (!certain && !gpu::all_finite(gradient_sum.host())) return false;
  whole_ = false;
  return options_.optimizer->step(next_->values(), w_->host(), gradient_sum.host(),
                                  clip(gradient_sum, samples, norm, pool) / static_cast<double>(samples),
                                  options_.schedule.lr_at(committed_samples_), pool);
}

void GlobalModel::commit(const Contribution& round, Round next, bool last) {
  THALWEG_CHECK(next_ != nullptr, "a step is taken before its commit");
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
}

void GlobalModel::skip(const Contribution& round, Round next, bool last) {
  keep(round.refused);
  record_.round = next;
  record_.last = last;
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
  for (const auto& state : options_.optimizer->state()) {
    snapshot->optimizer.push_back({state.name, {state.values.begin(), state.values.end()}});
  }
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
