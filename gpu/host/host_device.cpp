#include "gpu/host/host_device.hpp"

#include "gpu/cuda_devices.hpp"
#include "gpu/host/host_stream.hpp"

#include <algorithm>
#include <fstream>
#include <thread>
#include <unistd.h>

namespace thalweg::gpu {
namespace host {
namespace {

/// The processor as it calls itself: the first "model name" of /proc/cpuinfo.
std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

std::uint64_t memory_bytes() {
  const auto pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) : 0;
}

}  // namespace

DeviceInfo HostDevice::info() const {
  return {"host", processor_name(), kernels_->library(), std::max(1U, std::thread::hardware_concurrency()),
          memory_bytes()};
}

std::unique_ptr<Stream> HostDevice::open_stream(std::string name) {
  if (inline_streams_) return std::make_unique<InlineStream>(std::move(name));
  return std::make_unique<HostStream>(std::move(name));
}

std::shared_ptr<BufferPool> HostDevice::make_pool(std::size_t size, std::size_t limit) {
  return BufferPool::make_host(size, limit);
}

}  // namespace host

std::unique_ptr<Device> open_host_device(HostOptions options) {
  std::unique_ptr<host::Kernels> kernels;
  if (options.ops == HostOptions::Ops::best) kernels = host::make_onednn_kernels();
  if (!kernels) kernels = host::make_reference_kernels();
  return std::make_unique<host::HostDevice>(std::move(kernels), options.inline_streams);
}

DeviceReport list_devices() {
  DeviceReport report;
  report.devices.push_back(open_host_device()->info());
  report_cuda_devices(report);
  return report;
}

}  // namespace thalweg::gpu
