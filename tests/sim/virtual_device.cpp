#include "tests/sim/virtual_device.hpp"

#include "runtime/time/random.hpp"
#include "tests/sim/links.hpp"

#include <algorithm>
#include <utility>

namespace thalweg::sim {

namespace {

constexpr std::uint64_t stream_stream = 111;

class VirtualStream final : public testing::DoneAtOnceStream {
 public:
  VirtualStream(std::string name, const ComputeOptions& options, Random random, VirtualTime& time,
                const Audience& audience)
      : DoneAtOnceStream(std::move(name)),
        options_(options),
        random_(random),
        time_(time),
        audience_(audience) {
    const bool evaluator = name_ == "evaluator";
    usual_ = evaluator ? between(random_, Time{}, options_.evaluation_max)
                       : between(random_, options_.step_min, options_.step_max);
  }

  void submit(Work work, Done done) override {
    for (auto* looker : audience_) looker->computes(name_, true);
    auto status = guarded(work);
    free_ = std::max(free_, time_.now()) + duration();
    // What the work holds is let go when it is over, not when it was done ahead of time.
    time_.at(free_, random_.bits(),
             [name = name_, &audience = audience_, work = std::move(work), done = std::move(done),
              status = std::move(status)]() mutable {
               work = nullptr;
               for (auto* looker : audience) looker->computes(name, false);
               if (done) done(std::move(status));
             });
  }

 private:
  Time duration() {
    auto takes = usual_ + Time{static_cast<Time::rep>(static_cast<double>(usual_.count()) * options_.jitter *
                                                      random_.uniform())};
    if (random_.uniform() < options_.stall) takes += between(random_, Time{}, options_.stall_max);
    return takes;
  }

  const ComputeOptions options_;
  Random random_;
  VirtualTime& time_;
  const Audience& audience_;
  Time usual_{};
  Time free_{};
};

}  // namespace

std::unique_ptr<gpu::Stream> VirtualDevice::open_stream(std::string name) {
  return std::make_unique<VirtualStream>(std::move(name), options_, Random(seed_, stream_stream, streams_++),
                                         time_, audience_);
}

}  // namespace thalweg::sim
