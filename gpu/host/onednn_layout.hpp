#pragma once

#include "gpu/host/onednn_version.hpp"
#include "gpu/tensor.hpp"

#include <thalweg/result.hpp>

/// Translates between our tensor descriptions and oneDNN's.
namespace thalweg::gpu::host {

/// A layout oneDNN chose, such as channels in blocks of eight.
class OneDnnLayout final : public Layout {
 public:
  explicit OneDnnLayout(dnnl::memory::desc wrapped) : desc(std::move(wrapped)) {}
  const dnnl::memory::desc desc;
};

/// Row-major fp32 of any rank up to four.
dnnl::memory::desc plain_desc(const dnnl::memory::dims& dims);
/// Any layout, for a primitive to choose.
dnnl::memory::desc any_desc(const dnnl::memory::dims& dims);
dnnl::memory::dims dims_of(const Shape& shape);

/// How oneDNN calls it. Requires: made by this device.
dnnl::memory::desc desc_of(const TensorDesc& tensor);
/// How we call it; row-major has no layout object.
TensorDesc tensor_of(const dnnl::memory::desc& desc);

/// Channels that lie side by side, when the pixels of a [N, C, H, W] tensor follow each other in rows and
/// those in planes: 1 for plain, 8 or 16 for a blocked layout, C for NHWC. 0: another layout.
std::size_t lanes_of(const dnnl::memory::desc& desc);
/// Fp32 with that many lanes: 1, 8, 16 or the number of channels (where two of these are equal, so is the
/// memory).
dnnl::memory::desc desc_with_lanes(const dnnl::memory::dims& dims, std::size_t lanes);

/// Whether `desc_of` can work.
/// Fails: `mismatch` for a layout of another device.
Status check_layout(const TensorDesc& tensor);

/// Holds the calling thread to itself while an op is made or runs: oneDNN lays out its scratch for as many
/// threads as it sees when a primitive is made, and would start that many later.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

}  // namespace thalweg::gpu::host
