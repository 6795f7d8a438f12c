#pragma once

#include "actors/rules/method.hpp"
#include "gpu/buffer.hpp"
#include "models/optimizer.hpp"
#include "models/schedule.hpp"
#include "runtime/values/parameters.hpp"

#include <cstdint>
#include <memory>
#include <span>

/// A worker's own copy of the parameters, where the method lets it step on one: how it is brought to new
/// parameters, how it steps, and how far it went. Used on the worker's stream only, one piece of work at a
/// time.
///
/// A phase begins at the newest parameters (`replace`), at those and the worker's own moves that are not
/// committed (`keep_local`), between both (`mix`), or at parameters of the worker's own (`eager`).
namespace thalweg::actors {

class Replica {
 public:
  struct Options {
    rules::Method method;
    std::unique_ptr<models::Optimizer> inner;  ///< of local steps
    std::unique_ptr<models::Optimizer> outer;  ///< eager only: the worker's own outer step
    models::Schedule schedule;
    std::shared_ptr<gpu::BufferPool> buffers;  ///< `buffers_max` of them are enough
    double share = 1;  ///< eager only: of the worker's samples in those of all, until a round tells
  };
  static constexpr std::size_t buffers_max = 5;

  explicit Replica(Options options) : options_(std::move(options)) {}

  /// The sum of n·(w - x) of a round that is closed, and its n; empty: none was closed yet.
  struct Mean {
    Payload moves;
    std::uint64_t samples = 0;
  };

  /// A phase begins. `fresh`: parameters that came since the one before began; null: none.
  /// `behind` (eager only): of the round before the last one contributed to.
  void begin(const Parameters* fresh, const Mean& behind);
  /// Parameters came in the middle of a phase.
  void adopt(const Parameters& fresh);

  /// Where the next gradient is taken.
  [[nodiscard]] std::span<const float> values() const { return at_->host(); }

  /// Takes one local step along a gradient summed over `samples`; the learning rate is that of the schedule
  /// at the parameters adopted last. Returns whether all of the replica is finite; a gradient that is not
  /// (`good` says so: whoever took its norm knows) is not stepped along, and the phase's move is NaN.
  bool step(std::span<const float> gradient_sum, std::uint64_t samples, bool good);

  /// move = n·(start - x): how far the phase went.
  void move(std::span<float> move, std::uint64_t samples);

 private:
  std::shared_ptr<gpu::Buffer> take();
  void shift();
  void keep_start();
  void outer_step(const Mean& behind);

  Options options_;
  Parameters w_;                             ///< adopted last
  std::shared_ptr<gpu::Buffer> x_;           ///< null before the first local step
  std::shared_ptr<const FlatVector> at_;     ///< w_, x_, or theta_
  std::shared_ptr<const FlatVector> start_;  ///< what `at_` was when the phase began
  std::shared_ptr<gpu::Buffer> copy_;        ///< of x_, for `start_`
  bool finite_ = true;                       ///< all of this phase is

  // Eager only: the worker's own outer parameters, and its mean moves of this phase and of the one before.
  std::shared_ptr<gpu::Buffer> theta_, own_, own_before_, estimate_;
  bool moved_ = false;             ///< a phase has ended
  std::uint64_t own_samples_ = 0;  ///< n of the phase that ended last
};

}  // namespace thalweg::actors
