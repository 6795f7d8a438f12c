#pragma once

#include "gpu/device.hpp"

namespace thalweg::gpu {

/// Adds every CUDA device of this machine to the report, or why there is none. Which file answers is decided
/// when the program is built.
void report_cuda_devices(DeviceReport& report);

}  // namespace thalweg::gpu
