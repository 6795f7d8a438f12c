#include "gpu/host/onednn_layout.hpp"
#include "gpu/host/onednn_ops.hpp"
#include "gpu/host/onednn_weighted.hpp"

namespace thalweg::gpu::host {

std::unique_ptr<Op> make_onednn_linear(const dnnl::engine& engine, const LinearSpec& spec,
                                       const TensorDesc& input, const Shape& output) {
  // Over a [N, C, H, W] input the same [out, C*H*W] weights are read as OIHW, so nothing has to be flattened.
  auto weight_dims = dims_of(input.shape);
  weight_dims[0] = static_cast<dnnl::memory::dim>(spec.out_features);

  // Weights as they are: a matrix product reads them either way, and reordering 48,000 of them costs a fifth
  // of LeNet-5's first linear layer.
  const auto x = any_desc(dims_of(input.shape)), weight = plain_desc(weight_dims),
             y = any_desc(dims_of(output));
  const auto bias = plain_desc({weight_dims[0]});
  const auto forward = describe<dnnl::inner_product_forward>(
      engine, attributes(spec.relu), dnnl::prop_kind::forward_training, x, weight, bias, y);
  const auto backward_data =
      describe_backward<dnnl::inner_product_backward_data>(engine, attributes(false), forward, x, weight, y);
  const auto backward_weights = describe_backward<dnnl::inner_product_backward_weights>(
      engine, attributes(false), forward, x, weight, bias, y);
  return std::make_unique<OneDnnWeighted>(
      engine, WeightedPrimitives{forward, backward_data, backward_weights, desc_of(input),
                                 plain_desc(weight_dims), bias, spec.relu});
}

}  // namespace thalweg::gpu::host
