#include "actors/feeder.hpp"

#include <algorithm>
#include <utility>

namespace thalweg::actors {

FeederHandle::behavior_type FeederState::start(Options options) {
  options_ = std::move(options);
  self_->name_is("feeder");
  cutter_ = std::make_shared<BatchCutter>(options_.data, options_.seed);
  cursors_.assign(options_.workers, Cursor{options_.first, {}});
  next_lease_ = options_.first;
  return {
      [this](const Stamp&, const Lease& lease) { take_lease(lease); },
      [this](const Stamp&, const WantBatch& request) { want(request); },
      [this](const Stamp&, const Stop&) { self_->leave(options_.supervisor); },
  };
}

void FeederState::want(const WantBatch& request) {
  THALWEG_CHECK(request.worker < cursors_.size(), "a feeder serves the workers of its own node");
  if (!serve(request.worker, request.answer_to)) cursors_[request.worker].waiting = request.answer_to;
}

void FeederState::take_lease(const Lease& lease) {
  for (const auto& share : lease.rounds) {
    THALWEG_CHECK(share.round == next_lease_, "leases follow each other");
    leased_.push_back(share);
    next_lease_ = next_lease_.next();
  }
  while (!leased_.empty() && leased_.front().round < lease.open) leased_.pop_front();
  for (std::uint32_t worker = 0; worker < cursors_.size(); ++worker) {
    auto waiting = std::exchange(cursors_[worker].waiting, {});
    if (waiting && !serve(worker, waiting)) cursors_[worker].waiting = waiting;
  }
}

bool FeederState::serve(std::uint32_t worker, const WorkerHandle& answer_to) {
  auto& cursor = cursors_[worker];
  if (leased_.empty()) return false;
  // Only who is no longer a member falls behind the open round; it may compute, nobody will count it.
  cursor.next = std::max(cursor.next, leased_.front().round);
  if (cursor.next >= next_lease_) return false;
  const auto& share = leased_[cursor.next.value - leased_.front().round.value];
  const bool again = !share.again.empty() && share.again[worker];
  Batch batch{share.round, share.ranges[worker], nullptr, again};
  cursor.next = cursor.next.next();

  const Stamp stamp = self_->stamp_for<Batch>();
  auto cut = [cutter = cutter_, batch, stamp, answer_to, &context = self_->context()]() mutable {
    batch.data = cutter->cut(batch.range);
    post(context, "feeder", answer_to, stamp, std::move(batch));
  };
  if (batch.range.count == 0 || options_.pool == nullptr) {
    cut();
  } else {
    options_.pool->submit(std::move(cut));
  }
  return true;
}

}  // namespace thalweg::actors
