#include "actors/feeder.hpp"

#include <algorithm>
#include <utility>

namespace thalweg::actors {

namespace {

/// With fewer leased rounds than this ahead of its fastest worker, the feeder asks for more.
constexpr std::uint64_t low_water_rounds = 8;

}  // namespace

FeederHandle::behavior_type FeederState::start(Options options) {
  options_ = std::move(options);
  self_->name_is("feeder");
  cutter_ = std::make_shared<BatchCutter>(options_.data, options_.seed);
  cursors_.assign(options_.workers, Cursor{options_.first, {}});
  next_lease_ = options_.first;
  asked_ = true;  // the scheduler leases the first rounds unasked
  return {
      [this](const Stamp&, const Lease& lease) { take_lease(lease); },
      [this](const Stamp&, const WantBatch& request) { want(request); },
      [this](const Stamp&, const Stop&) {
        self_->tell(options_.supervisor, Stopped{"feeder", self_->messages_handled(), 0, false, 0, 0});
        self_->quit();
      },
  };
}

void FeederState::want(const WantBatch& request) {
  THALWEG_CHECK(request.worker < cursors_.size(), "a feeder serves the workers of its own node");
  if (!serve(request.worker, request.answer_to)) cursors_[request.worker].waiting = request.answer_to;
  ask_if_low();
}

void FeederState::take_lease(const Lease& lease) {
  for (const auto& share : lease.rounds) {
    THALWEG_CHECK(share.round == next_lease_, "leases follow each other");
    leased_.push_back(share);
    next_lease_ = next_lease_.next();
  }
  all_leased_ = lease.last;
  asked_ = false;
  for (std::uint32_t worker = 0; worker < cursors_.size(); ++worker) {
    auto waiting = std::exchange(cursors_[worker].waiting, {});
    if (waiting && !serve(worker, waiting)) cursors_[worker].waiting = waiting;
  }
  ask_if_low();
}

bool FeederState::serve(std::uint32_t worker, const WorkerHandle& answer_to) {
  auto& cursor = cursors_[worker];
  if (leased_.empty() || cursor.next >= next_lease_) return false;
  const auto& share = leased_[cursor.next.value - leased_.front().round.value];
  Batch batch{share.round, share.ranges[worker], nullptr, false};
  cursor.next = cursor.next.next();
  batch.last = all_leased_ && cursor.next == next_lease_;

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

void FeederState::ask_if_low() {
  Round slowest = next_lease_;
  Round fastest = options_.first;
  for (const auto& cursor : cursors_) {
    slowest = std::min(slowest, cursor.next);
    fastest = std::max(fastest, cursor.next);
  }
  while (!leased_.empty() && leased_.front().round < slowest) leased_.pop_front();
  if (asked_ || all_leased_ || next_lease_.value - fastest.value >= low_water_rounds) return;
  asked_ = true;
  self_->tell(options_.scheduler, LowWater{FeederHandle(self_), next_lease_});
}

}  // namespace thalweg::actors
