#include "gpu/host/onednn_layout.hpp"
#include "gpu/host/onednn_memory.hpp"
#include "gpu/host/onednn_ops.hpp"
#include "gpu/host/softmax_loss.hpp"

namespace thalweg::gpu::host {
namespace {

using Direction = Operand::Direction;

/// A few classes are not worth a primitive: the loop over plain logits is as fast, and its order is ours.
class OneDnnLoss final : public LossOp {
 public:
  OneDnnLoss(const dnnl::engine& engine, const TensorDesc& logits)
      : context_(engine),
        shape_(logits.shape),
        logits_(context_, Direction::in, desc_of(logits), plain_desc(dims_of(logits.shape))),
        dlogits_(context_, Direction::out, desc_of(logits), plain_desc(dims_of(logits.shape))) {}

  Score run(Stream&, const Tensor& logits, const std::int32_t* labels, Tensor* dlogits) override {
    const OneThread one_thread;
    logits_.bind(context_, logits.data);
    if (dlogits != nullptr) dlogits_.bind(context_, dlogits->data);
    const auto score = softmax_cross_entropy(
        static_cast<const float*>(logits_.wanted().get_data_handle()), labels,
        dlogits != nullptr ? static_cast<float*>(dlogits_.wanted().get_data_handle()) : nullptr, shape_[0],
        shape_[1]);
    if (dlogits != nullptr) dlogits_.finish(context_);
    return score;
  }

  [[nodiscard]] std::string implementation() const override { return "loop"; }

 private:
  Context context_;
  Shape shape_;
  Operand logits_, dlogits_;
};

}  // namespace

std::unique_ptr<LossOp> make_onednn_loss(const dnnl::engine& engine, const TensorDesc& logits) {
  return std::make_unique<OneDnnLoss>(engine, logits);
}

}  // namespace thalweg::gpu::host
