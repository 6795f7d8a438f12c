#pragma once

#include "tests/sim/checker.hpp"
#include "tests/sim/virtual_time.hpp"
#include "tests/support/host_backed_device.hpp"

#include <memory>
#include <string>

namespace thalweg::sim {

/// A device whose streams take virtual time: work is done when it is submitted, and said to be done when its
/// duration has gone by. Memory and ops are the host's.
class VirtualDevice final : public testing::HostBackedDevice {
 public:
  /// Requires: `time` and `audience` outlive every stream.
  VirtualDevice(const ComputeOptions& options, std::uint64_t seed, VirtualTime& time,
                const Audience& audience)
      : HostBackedDevice(gpu::HostOptions::Ops::reference),
        options_(options),
        seed_(seed),
        time_(time),
        audience_(audience) {}

  std::unique_ptr<gpu::Stream> open_stream(std::string name) override;

 private:
  ComputeOptions options_;
  std::uint64_t seed_;
  VirtualTime& time_;
  const Audience& audience_;
  std::uint64_t streams_ = 0;
};

}  // namespace thalweg::sim
