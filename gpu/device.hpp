#pragma once

#include "gpu/buffer.hpp"
#include "gpu/ops.hpp"
#include "gpu/stream.hpp"

#include <thalweg/result.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/// What computes: streams to order work, buffers to work on, op objects per shape. One interface for host and
/// GPU, and no word of either in it.
namespace thalweg::gpu {

struct DeviceInfo {
  std::string name;      ///< "host"
  std::string hardware;  ///< the processor as it calls itself
  std::string library;   ///< what computes there, with version: "oneDNN 2.6.3", "reference loops"
  std::size_t cores = 0;
  std::uint64_t memory_bytes = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  [[nodiscard]] virtual DeviceInfo info() const = 0;

  virtual std::unique_ptr<Stream> open_stream(std::string name) = 0;
  virtual std::shared_ptr<BufferPool> make_pool(std::size_t size, std::size_t limit) = 0;

  /// Ops for inputs of exactly this description.
  /// Fails: `invalid` when kernel, padding and input do not fit together; `failed` with the library's text.
  virtual Result<std::unique_ptr<Op>> conv2d(const Conv2dSpec& spec, const TensorDesc& input) = 0;
  virtual Result<std::unique_ptr<Op>> linear(const LinearSpec& spec, const TensorDesc& input) = 0;
  virtual Result<std::unique_ptr<Op>> pool2d(const Pool2dSpec& spec, const TensorDesc& input) = 0;
  virtual Result<std::unique_ptr<Op>> relu(const TensorDesc& input) = 0;
  virtual Result<std::unique_ptr<LossOp>> softmax_cross_entropy(const TensorDesc& logits) = 0;
};

struct HostOptions {
  enum class Ops { best, reference } ops = Ops::best;  ///< best: oneDNN when built with it
  bool inline_streams = false;                         ///< tests: `submit` runs the work before it returns
};

/// The processor this program runs on.
std::unique_ptr<Device> open_host_device(HostOptions options = {});

/// Every device of this machine, or, for a kind that is not there, why: for `thalweg devices`.
struct DeviceReport {
  std::vector<DeviceInfo> devices;
  std::vector<std::string> absent;  ///< "cuda: this build has no CUDA device"
};
DeviceReport list_devices();

}  // namespace thalweg::gpu
