#include "tests/support/timed_device.hpp"

#include <algorithm>
#include <utility>

namespace thalweg::testing {

class TimedDevice::TimedStream final : public DoneAtOnceStream {
 public:
  TimedStream(std::string name, TimedDevice& device) : DoneAtOnceStream(std::move(name)), device_(device) {}

  void submit(Work work, Done done) override {
    auto status = guarded(work);
    std::chrono::nanoseconds takes{};
    if (name_.starts_with('w')) takes = device_.step_time_(std::stoul(name_.substr(1)), steps_++);
    free_ = std::max(free_, device_.clock_.now()) + takes;
    // What the work holds is let go when it is over.
    device_.ends_.push_back({free_, [work = std::move(work), done = std::move(done), status]() mutable {
                               work = nullptr;
                               if (done) done(std::move(status));
                             }});
  }

 private:
  TimedDevice& device_;
  std::uint64_t steps_ = 0;
  std::chrono::nanoseconds free_{};
};

std::unique_ptr<gpu::Stream> TimedDevice::open_stream(std::string name) {
  return std::make_unique<TimedStream>(std::move(name), *this);
}

bool TimedDevice::happen() {
  const auto next = std::min_element(ends_.begin(), ends_.end(),
                                     [](const End& one, const End& other) { return one.when < other.when; });
  if (next == ends_.end()) return false;
  const auto say = std::move(next->say);
  clock_.advance(std::max(next->when - clock_.now(), std::chrono::nanoseconds{}));
  ends_.erase(next);
  say();
  return true;
}

}  // namespace thalweg::testing
