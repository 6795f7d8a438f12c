#include "actors/feeder.hpp"

#include <algorithm>
#include <utility>

namespace thalweg::actors {

FeederHandle::behavior_type FeederState::start(Options options) {
  options_ = std::move(options);
  self_->name_is("feeder");
  cutter_ = std::make_shared<BatchCutter>(options_.data, options_.seed);
  next_lease_ = options_.first;
  return {
      [this](const Stamp&, const Lease& lease) { take_lease(lease); },
      [this](const Stamp&, const WantBatch& request) { want(request); },
      [this](const Stamp&, const Stop&) { self_->leave(options_.supervisor); },
  };
}

void FeederState::want(const WantBatch& request) {
  if (!serve(request)) cursor_of(request.worker).waiting = request;
}

void FeederState::take_lease(const Lease& lease) {
  // The first lease of a node that came later begins with the round that was open then.
  if (leased_.empty() && !lease.rounds.empty())
    next_lease_ = std::max(next_lease_, lease.rounds.front().round);
  for (const auto& share : lease.rounds) {
    THALWEG_CHECK(share.round == next_lease_, "leases follow each other");
    leased_.push_back(share);
    next_lease_ = next_lease_.next();
  }
  while (!leased_.empty() && leased_.front().round < lease.open) leased_.pop_front();
  for (const auto& given : lease.batches) cursor_of(given.worker).given.push_back(given);
  if (dry_.size() < lease.dry.size()) dry_.resize(lease.dry.size());
  std::copy(lease.dry.begin(), lease.dry.end(), dry_.begin());
  for (auto& [worker, cursor] : cursors_) {
    auto waiting = std::exchange(cursor.waiting, {});
    if (waiting && !serve(*waiting)) cursor.waiting = waiting;
  }
}

bool FeederState::serve(const WantBatch& request) {
  const auto batch = options_.planned ? next_of_round(request.worker) : next_given(request);
  if (!batch) return false;
  deliver(request.answer_to, *batch);
  return true;
}

FeederState::Cursor& FeederState::cursor_of(std::uint32_t worker) {
  return cursors_.try_emplace(worker, Cursor{options_.first, 0, {}, {}}).first->second;
}

/// The next step of the worker's share of the round that its cursor is at.
std::optional<Batch> FeederState::next_of_round(std::uint32_t worker) {
  auto& cursor = cursor_of(worker);
  if (leased_.empty()) return std::nullopt;
  // Only who is no longer a member falls behind the open round; it may compute, nobody will count it.
  if (cursor.next < leased_.front().round) {
    cursor.next = leased_.front().round;
    cursor.offset = 0;
  }
  if (cursor.next >= next_lease_) return std::nullopt;
  const auto& share = leased_[cursor.next.value - leased_.front().round.value];
  // Who came after a round was planned has nothing of it.
  const auto whole = worker < share.ranges.size() ? share.ranges[worker] : IndexRange{};
  const auto step = share.steps_of.empty() || whole.count == 0 ? whole.count : share.steps_of[worker];
  const auto count = std::min(step, whole.count - cursor.offset);
  Batch batch;
  batch.round = share.round;
  batch.range = {whole.epoch, whole.begin + cursor.offset, count};
  batch.again = worker < share.again.size() && share.again[worker];
  cursor.offset += count;
  batch.last = cursor.offset == whole.count;
  if (batch.last) {
    cursor.next = cursor.next.next();
    cursor.offset = 0;
  }
  return batch;
}

/// The next batch that the scheduler gave for the worker; an empty one when there is nothing, for now, and
/// the worker would rather know.
std::optional<Batch> FeederState::next_given(const WantBatch& request) {
  auto& given = cursor_of(request.worker).given;
  Batch batch;
  if (given.empty()) {
    const bool dry = request.worker < dry_.size() && dry_[request.worker];
    const bool rather_empty = dry && !request.patient;
    return rather_empty ? std::optional(batch) : std::nullopt;
  }
  batch.range = given.front().range;
  batch.again = given.front().again;
  batch.serial = given.front().serial;
  given.pop_front();
  self_->tell(options_.scheduler, Served{request.worker, batch.serial});
  return batch;
}

void FeederState::deliver(const WorkerHandle& to, Batch batch) {
  const Stamp stamp = self_->stamp_for<Batch>();
  const bool empty = batch.range.count == 0;
  auto cut = [cutter = cutter_, batch = std::move(batch), stamp, to, &context = self_->context()]() mutable {
    batch.data = cutter->cut(batch.range);
    post(context, "feeder", to, stamp, std::move(batch));
  };
  if (empty || options_.pool == nullptr) {
    cut();
  } else {
    options_.pool->submit(std::move(cut));
  }
}

}  // namespace thalweg::actors
