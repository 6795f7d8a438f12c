#pragma once

#include "gpu/host/onednn_version.hpp"
#include "gpu/ops.hpp"

#include <memory>

/// Makes oneDNN's ops. Specs are checked already; all may throw dnnl::error.
namespace thalweg::gpu::host {

std::unique_ptr<Op> make_onednn_conv2d(const dnnl::engine& engine, const Conv2dSpec& spec,
                                       const TensorDesc& input, const Shape& output);
/// For the first layer of a network: `conv` with faster gradients of its weights, where it has few channels
/// and nobody wants dx; `conv` itself where they would not help.
std::unique_ptr<Op> make_onednn_first_conv2d(std::unique_ptr<Op> conv, const Conv2dSpec& spec,
                                             const TensorDesc& input);
std::unique_ptr<Op> make_onednn_linear(const dnnl::engine& engine, const LinearSpec& spec,
                                       const TensorDesc& input, const Shape& output);
std::unique_ptr<Op> make_onednn_pool2d(const dnnl::engine& engine, const Pool2dSpec& spec,
                                       const TensorDesc& input, const Shape& output);
std::unique_ptr<Op> make_onednn_relu(const dnnl::engine& engine, const TensorDesc& input);
std::unique_ptr<LossOp> make_onednn_loss(const dnnl::engine& engine, const TensorDesc& logits);

}  // namespace thalweg::gpu::host
