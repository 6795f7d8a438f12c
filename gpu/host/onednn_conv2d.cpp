#include "gpu/host/onednn_layout.hpp"
#include "gpu/host/onednn_ops.hpp"
#include "gpu/host/onednn_weighted.hpp"

namespace thalweg::gpu::host {

std::unique_ptr<Op> make_onednn_conv2d(const dnnl::engine& engine, const Conv2dSpec& spec,
                                       const TensorDesc& input, const Shape& output) {
  using dnnl::algorithm;
  const auto size = [](std::size_t value) { return static_cast<dnnl::memory::dim>(value); };
  const dnnl::memory::dims weight_dims = {size(spec.out_channels), size(input.shape[1]), size(spec.kernel),
                                          size(spec.kernel)};
  const dnnl::memory::dims strides(2, size(spec.stride));
  const dnnl::memory::dims padding(2, size(spec.padding));

  const auto x = any_desc(dims_of(input.shape)), weight = any_desc(weight_dims),
             y = any_desc(dims_of(output));
  const auto bias = plain_desc({size(spec.out_channels)});
  const auto forward = describe<dnnl::convolution_forward>(
      engine, attributes(spec.relu), dnnl::prop_kind::forward_training, algorithm::convolution_direct, x,
      weight, bias, y, strides, padding, padding);
  const auto backward_data = describe_backward<dnnl::convolution_backward_data>(
      engine, attributes(false), forward, algorithm::convolution_direct, x, weight, y, strides, padding,
      padding);
  const auto backward_weights = describe_backward<dnnl::convolution_backward_weights>(
      engine, attributes(false), forward, algorithm::convolution_direct, x, weight, bias, y, strides, padding,
      padding);
  return std::make_unique<OneDnnWeighted>(
      engine, WeightedPrimitives{forward, backward_data, backward_weights, desc_of(input),
                                 plain_desc(weight_dims), bias, spec.relu});
}

}  // namespace thalweg::gpu::host
