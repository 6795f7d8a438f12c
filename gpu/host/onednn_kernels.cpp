#include "gpu/host/kernels.hpp"
#include "gpu/host/onednn_layout.hpp"
#include "gpu/host/onednn_ops.hpp"
#include "gpu/op_shapes.hpp"

#include <fmt/format.h>

namespace thalweg::gpu::host {
namespace {

/// Runs `make` and turns oneDNN's exceptions, which none of our interfaces lets through, into errors.
template <class Made, class Make>
Result<std::unique_ptr<Made>> guarded(const char* name, const TensorDesc& input, const Make& make) {
  if (const auto status = check_layout(input); !status) return status.error();
  try {
    const OneThread one_thread;
    return make();
  } catch (const dnnl::error& error) {
    return Error{ErrorCode::failed,
                 fmt::format("{} on an input of {}: oneDNN: {} (status {})", name, text_of(input.shape),
                             error.what(), static_cast<int>(error.status))};
  }
}

class OneDnnKernels final : public Kernels {
 public:
  OneDnnKernels() : engine_(dnnl::engine::kind::cpu, 0) {}

  [[nodiscard]] std::string library() const override {
    const auto* version = dnnl_version();
    return fmt::format("oneDNN {}.{}.{}", version->major, version->minor, version->patch);
  }

  Result<std::unique_ptr<Op>> conv2d(const Conv2dSpec& spec, const TensorDesc& input) override {
    const auto shape = output_shape(spec, input.shape);
    if (!shape) return shape.error();
    return guarded<Op>("conv2d", input, [&] {
      return make_onednn_first_conv2d(make_onednn_conv2d(engine_, spec, input, *shape), spec, input);
    });
  }

  Result<std::unique_ptr<Op>> linear(const LinearSpec& spec, const TensorDesc& input) override {
    const auto shape = output_shape(spec, input.shape);
    if (!shape) return shape.error();
    return guarded<Op>("linear", input, [&] { return make_onednn_linear(engine_, spec, input, *shape); });
  }

  Result<std::unique_ptr<Op>> pool2d(const Pool2dSpec& spec, const TensorDesc& input) override {
    const auto shape = output_shape(spec, input.shape);
    if (!shape) return shape.error();
    return guarded<Op>("pool2d", input, [&] { return make_onednn_pool2d(engine_, spec, input, *shape); });
  }

  Result<std::unique_ptr<Op>> relu(const TensorDesc& input) override {
    if (const auto status = check_relu_input(input.shape); !status) return status.error();
    return guarded<Op>("relu", input, [&] { return make_onednn_relu(engine_, input); });
  }

  Result<std::unique_ptr<LossOp>> softmax_cross_entropy(const TensorDesc& logits) override {
    if (const auto status = check_loss_input(logits.shape); !status) return status.error();
    return guarded<LossOp>("softmax_cross_entropy", logits,
                           [&] { return make_onednn_loss(engine_, logits); });
  }

 private:
  dnnl::engine engine_;
};

}  // namespace

std::unique_ptr<Kernels> make_onednn_kernels() { return std::make_unique<OneDnnKernels>(); }

}  // namespace thalweg::gpu::host
