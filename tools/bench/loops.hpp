#pragma once

#include "tools/bench/training.hpp"

/// Training without actors: the fewest lines that do the same work, as a yardstick. A thread per worker cuts
/// its batch and computes its gradient, with the same streams, models, samples and optimizer as the actors.
namespace thalweg::bench {

enum class Loops {
  barrier,       ///< joined after each round by a std::barrier; who comes last sums and steps, alone
  free_running,  ///< never joined: gradients only, at the first parameters; no sum, no step
};

/// Seconds of a round, over the rounds after the first `warm_up` ones of `job`.
/// Fails: as actors::assemble, and as the models.
Result<double> run_loops(Loops kind, const Config& job, const models::DatasetPair& data, std::size_t warm_up,
                         Machine& machine, const Clock& clock);

}  // namespace thalweg::bench
