#include "gpu/host/kernels.hpp"
#include "gpu/host/reference_ops.hpp"
#include "gpu/op_shapes.hpp"

namespace thalweg::gpu::host {
namespace {

Status check_plain(const TensorDesc& input) {
  if (!input.layout) return {};
  return Error{ErrorCode::mismatch,
               "reference op: the input is not row-major: make the op before it here too"};
}

/// Checks a spec, then makes its op.
template <class ReferenceOp, class Spec>
Result<std::unique_ptr<Op>> make(const Spec& spec, const TensorDesc& input) {
  const auto shape = output_shape(spec, input.shape);
  if (!shape) return shape.error();
  if (const auto status = check_plain(input); !status) return status.error();
  return std::unique_ptr<Op>(std::make_unique<ReferenceOp>(spec, input.shape, *shape));
}

class ReferenceKernels final : public Kernels {
 public:
  [[nodiscard]] std::string library() const override { return "reference loops"; }

  Result<std::unique_ptr<Op>> conv2d(const Conv2dSpec& spec, const TensorDesc& input) override {
    return make<ReferenceConv2d>(spec, input);
  }
  Result<std::unique_ptr<Op>> linear(const LinearSpec& spec, const TensorDesc& input) override {
    return make<ReferenceLinear>(spec, input);
  }
  Result<std::unique_ptr<Op>> pool2d(const Pool2dSpec& spec, const TensorDesc& input) override {
    return make<ReferencePool2d>(spec, input);
  }
  Result<std::unique_ptr<Op>> relu(const TensorDesc& input) override {
    if (const auto status = check_relu_input(input.shape); !status) return status.error();
    if (const auto status = check_plain(input); !status) return status.error();
    return std::unique_ptr<Op>(std::make_unique<ReferenceRelu>(input.shape));
  }
  Result<std::unique_ptr<LossOp>> softmax_cross_entropy(const TensorDesc& logits) override {
    if (const auto status = check_loss_input(logits.shape); !status) return status.error();
    if (const auto status = check_plain(logits); !status) return status.error();
    return std::unique_ptr<LossOp>(std::make_unique<ReferenceLoss>(logits.shape));
  }
};

}  // namespace

std::unique_ptr<Kernels> make_reference_kernels() { return std::make_unique<ReferenceKernels>(); }

}  // namespace thalweg::gpu::host
