#pragma once

#include "actors/rules/sampling.hpp"
#include "runtime/values/contribution.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

/// Who gets which samples, as the run goes. Where rounds are planned it cuts each next round from what its
/// epoch has left, takes back what a closed round did not commit, and gives it out again; undisturbed, round
/// after round is the one that LockstepSampling plans. Elsewhere it gives batch after batch to whoever asks,
/// and takes back what a lost worker had. The scheduler's decision; knows no actor.
namespace thalweg::rules {

/// A batch for one worker, where rounds are not planned.
struct GivenBatch {
  std::uint32_t worker = 0;
  std::uint64_t serial = 0;  ///< 1, 2, ... for each worker
  IndexRange range;
  bool again = false;  ///< refused once already
};

class Allotment {
 public:
  struct Options {
    LockstepSampling sampling;
    std::uint64_t max_samples = 0;        ///< ends the run when so many are committed; 0: no such limit
    std::uint64_t commits = 0;            ///< already made, by the run that this one goes on with
    std::vector<IndexRange> committed;    ///< likewise, sorted and merged
    std::vector<IndexRange> quarantined;  ///< likewise
    /// Where the run is so many rounds long, max_samples ends it in their place: one may be of any length.
    bool by_samples = false;
  };
  explicit Allotment(Options options);

  /// Whether there is anything to give out now. False is not the end: what is out may come back.
  [[nodiscard]] bool available() const;
  /// Nothing is out, nothing is left: every sample of the budget is committed or quarantined.
  [[nodiscard]] bool done() const { return out_.empty() && given_.empty() && !available(); }

  /// The next planned round, of `steps` batches for each worker. Requires: available(); rounds rise.
  RoundShare next(Round round, std::uint64_t steps = 1);

  /// The next batch for `worker`. Nothing: there is none that it may have, now.
  std::optional<GivenBatch> give(std::uint32_t worker);

  /// What a closed round came to.
  struct Settled {
    std::uint64_t committed = 0;         ///< samples
    std::uint64_t returned = 0;          ///< samples that go out again
    std::uint64_t quarantined = 0;       ///< samples, refused of two workers (or twice of the only one)
    std::vector<std::uint32_t> wronged;  ///< a strike each: all of a refused contribution was fine elsewhere
  };
  /// `round` is closed: it committed `spent` (empty: it made no commit), and refused what `refused` says.
  /// What was given out and is in neither comes back: its worker was lost.
  Settled settle(Round round, const std::vector<IndexRange>& spent, const std::vector<Refusal>& refused);

  /// The same for a commit that was made of given batches, or for one that was not made since all was
  /// refused.
  Settled settle(const std::vector<IndexRange>& spent, const std::vector<Refusal>& refused);

  /// A newcomer: it is given batches of `batch` samples from now on. Requires: its number is new; it
  /// may be lower than those of others, who were ready sooner.
  void add(std::uint32_t worker, std::uint64_t batch);
  /// Gives `worker` nothing from now on. What it has out comes back when its rounds are settled, or when it
  /// is fenced.
  void remove(std::uint32_t worker);
  /// Takes back what `worker` was given after the batch with this serial. Returns how many samples that is.
  std::uint64_t fence(std::uint32_t worker, std::uint64_t serial);
  /// Sizes of batches from now on, by worker; who is not there is left out.
  void cut(const std::map<std::uint32_t, std::uint64_t>& batches);
  [[nodiscard]] const std::map<std::uint32_t, std::uint64_t>& batches() const { return batches_; }
  /// Batches that were given, without those that were taken back.
  [[nodiscard]] std::uint64_t given() const { return given_count_; }
  [[nodiscard]] std::size_t workers() const { return batches_.size(); }  ///< still there

 private:
  /// A refused contribution, while its samples are tried by others, in one piece or in several.
  struct Suspicion {
    std::uint32_t worker = 0;  ///< whose it was
    std::uint64_t open = 0;    ///< samples not yet tried
    bool confirmed = false;    ///< some of them were refused of another worker, too
  };
  struct Piece {
    IndexRange range;
    std::optional<std::uint64_t> suspicion;  ///< key into `suspicions_`; empty: it was not refused
  };
  struct Given {
    std::uint32_t worker = 0;
    Piece piece;
    std::uint64_t serial = 0;
  };
  enum class Fate { open, committed, refused };

  [[nodiscard]] std::optional<std::uint32_t> refused_of(const Piece& piece) const;
  /// Settles `piece` of a refused contribution. True: all of that contribution was fine elsewhere.
  bool clear(const Piece& piece, bool fine);
  std::optional<Piece> take_returned(std::uint32_t worker, std::uint64_t batch);
  /// Keys into `suspicions_`, by place in what was refused.
  using Suspected = std::map<std::size_t, std::uint64_t>;
  Fate settle(const Given& given, const std::vector<IndexRange>& spent, const std::vector<Refusal>& refused,
              Settled& settled, Suspected& suspected);
  void give_fresh(RoundShare& share, const std::vector<std::uint32_t>& workers, std::uint64_t limit,
                  std::uint64_t steps);
  void begin_epoch_if_due();
  void give(RoundShare& share, std::uint32_t worker, const Piece& piece);
  [[nodiscard]] bool fresh() const;
  [[nodiscard]] std::uint64_t samples_left() const;
  [[nodiscard]] std::uint64_t fresh_left() const;

  Options options_;
  std::uint64_t per_epoch_ = 0;                     ///< positions of an epoch that are used
  std::uint32_t numbers_ = 0;                       ///< workers are numbered below it
  std::map<std::uint32_t, std::uint64_t> batches_;  ///< b_i of the workers that are there, by number
  std::uint64_t epoch_ = 0;                         ///< the next fresh position
  std::uint64_t position_ = 0;
  std::vector<Piece> returned_;  ///< the oldest first
  std::map<std::uint64_t, Suspicion> suspicions_;
  std::uint64_t next_suspicion_ = 0;
  std::map<Round, std::vector<Given>> out_;         ///< of planned rounds
  std::vector<Given> given_;                        ///< where they are not planned
  std::uint64_t given_count_ = 0;                   ///< likewise, without those that were taken back
  std::map<std::uint32_t, std::uint64_t> serials_;  ///< given last, by worker
  std::uint64_t commits_ = 0;
  std::uint64_t committed_samples_ = 0;
  std::uint64_t out_samples_ = 0;
};

}  // namespace thalweg::rules
