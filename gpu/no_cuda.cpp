#include "gpu/cuda_devices.hpp"

namespace thalweg::gpu {

void report_cuda_devices(DeviceReport& report) {
  report.absent.emplace_back("cuda: this build has no CUDA device");
}

}  // namespace thalweg::gpu
