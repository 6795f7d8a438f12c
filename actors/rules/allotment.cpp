#include "actors/rules/allotment.hpp"

#include "runtime/check.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace thalweg::rules {

namespace {

bool covers(const std::vector<IndexRange>& ranges, const IndexRange& part) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const IndexRange& range) {
    return range.epoch == part.epoch && range.begin <= part.begin && part.end() <= range.end();
  });
}

}  // namespace

Allotment::Allotment(Options options) : options_(std::move(options)) {
  const auto& sampling = options_.sampling.options();
  per_epoch_ = options_.sampling.samples_used_per_epoch();
  for (std::uint32_t worker = 0; worker < sampling.batches.size(); ++worker) {
    batches_[worker] = sampling.batches[worker];
  }
  numbers_ = static_cast<std::uint32_t>(sampling.batches.size());
  commits_ = options_.commits;
  committed_samples_ = total(options_.committed);

  // Fresh positions begin behind the last one settled; a hole before it was out when the last run ended.
  auto settled = options_.committed;
  for (const auto& range : options_.quarantined) add_range(settled, range);
  const auto return_up_to = [this](std::uint64_t end) {
    if (position_ < end) returned_.push_back({{epoch_, position_, end - position_}, {}});
  };
  for (const auto& range : settled) {
    for (; epoch_ < range.epoch; ++epoch_, position_ = 0) return_up_to(per_epoch_);
    return_up_to(range.begin);
    position_ = range.end();
  }
}

bool Allotment::fresh() const {
  const auto& sampling = options_.sampling.options();
  if (sampling.rounds != 0) return true;
  return epoch_ + 1 < sampling.epochs || (epoch_ < sampling.epochs && position_ < per_epoch_);
}

std::uint64_t Allotment::samples_left() const {
  if (options_.max_samples == 0) return std::numeric_limits<std::uint64_t>::max();
  const auto taken = committed_samples_ + out_samples_;
  return taken < options_.max_samples ? options_.max_samples - taken : 0;
}

/// Of samples_left(), what is not kept for those that came back: who may not have them has no others instead.
std::uint64_t Allotment::fresh_left() const {
  std::uint64_t kept = 0;
  for (const auto& piece : returned_) kept += piece.range.count;
  const auto left = samples_left();
  return kept < left ? left - kept : 0;
}

bool Allotment::available() const {
  const auto rounds = options_.by_samples ? 0 : options_.sampling.options().rounds;
  if (rounds != 0 && commits_ + out_.size() >= rounds) return false;
  return !batches_.empty() && samples_left() > 0 && (!returned_.empty() || fresh());
}

RoundShare Allotment::next(Round round, std::uint64_t steps) {
  THALWEG_CHECK(available(), "a round is cut only when there is something to cut");
  THALWEG_CHECK(out_.empty() || out_.rbegin()->first < round, "rounds rise");
  out_[round];  // it is out, also before anybody has a piece of it
  RoundShare share{round, std::vector<IndexRange>(numbers_), {}, {}};
  if (steps > 1) share.steps_of.resize(share.ranges.size());
  std::vector<std::uint32_t> without;
  for (const auto& [worker, batch] : batches_) {
    if (steps > 1) share.steps_of[worker] = batch;
    if (const auto piece = take_returned(worker, std::min(batch * steps, samples_left()))) {
      give(share, worker, *piece);
    } else {
      without.push_back(worker);
    }
  }
  give_fresh(share, without, fresh_left(), steps);
  return share;
}

std::optional<GivenBatch> Allotment::give(std::uint32_t worker) {
  const auto batch = batches_.find(worker);
  if (batch == batches_.end() || !available()) return std::nullopt;
  const auto most = std::min(batch->second, samples_left());
  auto piece = take_returned(worker, most);
  if (!piece) {
    if (!fresh() || fresh_left() == 0) return std::nullopt;
    begin_epoch_if_due();
    const auto count = std::min({most, fresh_left(), per_epoch_ - position_});
    piece = Piece{{epoch_, position_, count}, {}};
    position_ += count;
  }
  out_samples_ += piece->range.count;
  const auto serial = ++serials_[worker];
  ++given_count_;
  given_.push_back({worker, *piece, serial});
  return GivenBatch{worker, serial, piece->range, piece->suspicion.has_value()};
}

void Allotment::give(RoundShare& share, std::uint32_t worker, const Piece& piece) {
  share.ranges[worker] = piece.range;
  if (piece.suspicion) {
    share.again.resize(share.ranges.size());
    share.again[worker] = true;
  }
  out_[share.round].push_back({worker, piece});
  out_samples_ += piece.range.count;
}

std::optional<std::uint32_t> Allotment::refused_of(const Piece& piece) const {
  if (!piece.suspicion) return std::nullopt;
  return suspicions_.at(*piece.suspicion).worker;
}

bool Allotment::clear(const Piece& piece, bool fine) {
  const auto found = suspicions_.find(*piece.suspicion);
  auto& suspicion = found->second;
  suspicion.open -= piece.range.count;
  if (!fine) suspicion.confirmed = true;
  if (suspicion.open > 0) return false;
  const bool wronged = !suspicion.confirmed;
  suspicions_.erase(found);
  return wronged;
}

/// The oldest piece that this worker may have, no longer than its batch: what was refused of it goes to
/// another one, unless there is none.
std::optional<Allotment::Piece> Allotment::take_returned(std::uint32_t worker, std::uint64_t batch) {
  if (batch == 0) return std::nullopt;
  const auto found = std::find_if(returned_.begin(), returned_.end(), [&](const Piece& piece) {
    return refused_of(piece) != worker || batches_.size() == 1;
  });
  if (found == returned_.end()) return std::nullopt;
  Piece piece = *found;
  if (piece.range.count <= batch) {
    returned_.erase(found);
  } else {
    piece.range.count = batch;
    found->range.begin += batch;
    found->range.count -= batch;
  }
  return piece;
}

void Allotment::begin_epoch_if_due() {
  if (position_ < per_epoch_) return;
  ++epoch_;
  position_ = 0;
}

void Allotment::give_fresh(RoundShare& share, const std::vector<std::uint32_t>& workers, std::uint64_t limit,
                           std::uint64_t steps) {
  if (workers.empty() || limit == 0 || !fresh()) return;
  begin_epoch_if_due();
  std::vector<std::uint64_t> counts;
  std::uint64_t wanted = 0;
  for (const auto worker : workers) {
    counts.push_back(batches_.at(worker) * steps);
    wanted += counts.back();
  }
  const auto count = std::min({wanted, per_epoch_ - position_, limit});
  if (count < wanted) counts = largest_remainder(count, counts);
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const IndexRange range{epoch_, position_, counts[i]};
    position_ += counts[i];
    if (counts[i] > 0) {
      give(share, workers[i], {range, {}});
    } else {
      share.ranges[workers[i]] = range;
    }
  }
}

Allotment::Settled Allotment::settle(Round round, const std::vector<IndexRange>& spent,
                                     const std::vector<Refusal>& refused) {
  const auto found = out_.find(round);
  THALWEG_CHECK(found != out_.end(), "a round is closed once, after it was given out");
  const auto given = std::move(found->second);
  out_.erase(found);
  if (!spent.empty()) ++commits_;

  Settled settled;
  Suspected suspected;
  for (const auto& each : given) {
    if (settle(each, spent, refused, settled, suspected) != Fate::open) continue;
    settled.returned += each.piece.range.count;
    returned_.push_back(each.piece);
  }
  THALWEG_CHECK(settled.committed == total(spent), "a commit spends what was given out for its round, once");
  return settled;
}

Allotment::Settled Allotment::settle(const std::vector<IndexRange>& spent,
                                     const std::vector<Refusal>& refused) {
  if (!spent.empty()) ++commits_;
  Settled settled;
  Suspected suspected;
  std::vector<Given> open;
  for (const auto& each : given_) {
    if (settle(each, spent, refused, settled, suspected) != Fate::open) continue;
    out_samples_ += each.piece.range.count;  // it stays out
    open.push_back(each);
  }
  given_ = std::move(open);
  THALWEG_CHECK(settled.committed == total(spent), "a commit spends what was given out, once");
  return settled;
}

/// What became of a piece that was out: it is no longer.
Allotment::Fate Allotment::settle(const Given& given, const std::vector<IndexRange>& spent,
                                  const std::vector<Refusal>& refused, Settled& settled,
                                  Suspected& suspected) {
  const auto worker = given.worker;
  const auto& piece = given.piece;
  const auto count = piece.range.count;
  out_samples_ -= count;
  if (covers(spent, piece.range)) {
    settled.committed += count;
    committed_samples_ += count;
    const auto suspect = refused_of(piece);
    if (suspect && clear(piece, suspect != worker)) settled.wronged.push_back(*suspect);
    return Fate::committed;
  }
  const auto refusal = std::find_if(refused.begin(), refused.end(), [&](const auto& each) {
    return each.origin == worker_id(worker) && covers(each.spent, piece.range);
  });
  if (refusal == refused.end()) return Fate::open;
  if (piece.suspicion) {
    settled.quarantined += count;
    clear(piece, false);
  } else {
    settled.returned += count;
    // What was refused together is one suspicion, in however many pieces it was given.
    const auto [key, first] =
        suspected.try_emplace(static_cast<std::size_t>(refusal - refused.begin()), next_suspicion_);
    if (first) suspicions_[next_suspicion_++] = {worker, 0, false};
    suspicions_[key->second].open += count;
    returned_.push_back({piece.range, key->second});
  }
  return Fate::refused;
}

std::uint64_t Allotment::fence(std::uint32_t worker, std::uint64_t serial) {
  std::uint64_t back = 0;
  std::erase_if(given_, [&](const Given& each) {
    if (each.worker != worker || each.serial <= serial) return false;
    back += each.piece.range.count;
    --given_count_;
    returned_.push_back(each.piece);
    return true;
  });
  out_samples_ -= back;
  return back;
}

void Allotment::cut(const std::map<std::uint32_t, std::uint64_t>& batches) {
  for (auto& [worker, batch] : batches_) {
    if (const auto found = batches.find(worker); found != batches.end()) batch = found->second;
  }
}

void Allotment::add(std::uint32_t worker, std::uint64_t batch) {
  const bool added = batches_.emplace(worker, batch).second;
  THALWEG_CHECK(added, "the number of a newcomer is new");
  numbers_ = std::max(numbers_, worker + 1);
}

void Allotment::remove(std::uint32_t worker) { batches_.erase(worker); }

}  // namespace thalweg::rules
