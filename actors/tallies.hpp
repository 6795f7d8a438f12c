#pragma once

#include "actors/rules/staleness.hpp"
#include "gpu/buffer.hpp"
#include "runtime/values/contribution.hpp"

#include <memory>
#include <optional>
#include <vector>

/// What a leader holds until it is pulled (InHAD): a running sum of its members' gradients for each version
/// that they were taken at. Says what is to be folded; whoever owns it folds.
namespace thalweg::actors {

class Tallies {
 public:
  struct Tally {
    Version base;
    std::shared_ptr<gpu::Buffer> sum;  ///< null: only refusals so far
    Contribution total;                ///< what is in it, but for ids and payload
  };
  /// More versions are never held apart: the two oldest become one, under the older version.
  static constexpr std::size_t most = 4;

  /// `sum` (+)= `source`, and then `add` is to be called again, or the contribution is in.
  struct Fold {
    std::shared_ptr<gpu::Buffer> sum;
    Payload source;
    bool accumulate = false;
    bool merged = false;  ///< two tallies were made one: the contribution is still to be added
  };
  /// What is to be folded to take `contribution` in; nothing: no buffer is free. What it says is counted in
  /// unless `merged`. Requires: it holds samples.
  std::optional<Fold> add(const Contribution& contribution, gpu::BufferPool& buffers);
  /// Takes in one without samples: what it refuses and how far its origin is.
  void note(const Contribution& refused);

  /// Hands out all tallies, and begins anew.
  std::vector<Tally> swap();

  [[nodiscard]] bool empty() const { return tallies_.empty() && !refused_; }
  [[nodiscard]] Version oldest() const;
  [[nodiscard]] std::uint64_t merges() const { return merges_; }  ///< so far

 private:
  std::vector<Tally> tallies_;
  std::optional<Contribution> refused_;
  std::uint64_t merges_ = 0;
};

/// What a pulled leader answers, but for its payload: totals and the weight of each tally's sum, counted from
/// `now`.
struct WeighedTallies {
  Contribution total;
  std::vector<Payload> sources;
  std::vector<float> weights;
};
WeighedTallies weigh(const std::vector<Tallies::Tally>& tallies, rules::StalenessScaling scaling,
                     Version now);

}  // namespace thalweg::actors
