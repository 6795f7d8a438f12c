#include "gpu/host/aligned_memory.hpp"
#include "gpu/host/isa_kernels.hpp"
#include "gpu/host/onednn_layout.hpp"
#include "gpu/host/onednn_ops.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace thalweg::gpu::host {
namespace {

/// Channels up to which the loops are faster than oneDNN's kernel, which computes eight.
constexpr std::size_t few_channels = 2;

class FirstConv2d final : public Op {
 public:
  FirstConv2d(std::unique_ptr<Op> conv, const Conv2dSpec& spec, const Shape& input, std::size_t lanes);

  [[nodiscard]] const TensorDesc& output() const override { return conv_->output(); }
  void forward(const ForwardArgs& args) override { conv_->forward(args); }
  void backward(const BackwardArgs& args) override;
  [[nodiscard]] std::string implementation() const override;

 private:
  void copy_padded(const float* x);
  void write_gradients(float* dweight, float* dbias) const;

  std::unique_ptr<Op> conv_;
  Conv2dSpec spec_;
  Shape in_;
  ImageConvShape shape_{};
  const ImageKernels& kernels_;
  AlignedMemory padded_;   ///< one sample with zeros around it
  AlignedMemory dweight_;  ///< [block][channel][kernel][kernel][lane]
  AlignedMemory dbias_;    ///< [block][lane]
  std::size_t padded_floats_ = 0, dweight_floats_ = 0, dbias_floats_ = 0;
};

FirstConv2d::FirstConv2d(std::unique_ptr<Op> conv, const Conv2dSpec& spec, const Shape& input,
                         std::size_t lanes)
    : conv_(std::move(conv)), spec_(spec), in_(input), kernels_(best_isa_kernels().image) {
  const auto& out = conv_->output().shape;
  shape_ = {input[1],
            input[2] + 2 * spec.padding,
            input[3] + 2 * spec.padding,
            (out[1] + lanes - 1) / lanes,
            lanes,
            out[2],
            out[3],
            spec.kernel,
            spec.stride};
  padded_floats_ = shape_.channels * shape_.height * shape_.width;
  dbias_floats_ = shape_.blocks * lanes;
  dweight_floats_ = dbias_floats_ * shape_.channels * spec.kernel * spec.kernel;
  padded_ = AlignedMemory(padded_floats_ * sizeof(float));
  dweight_ = AlignedMemory(dweight_floats_ * sizeof(float));
  dbias_ = AlignedMemory(dbias_floats_ * sizeof(float));
  std::fill_n(padded_.data(), padded_floats_, 0.0F);
}

void FirstConv2d::backward(const BackwardArgs& args) {
  if (args.dx != nullptr) return conv_->backward(args);
  std::fill_n(dweight_.data(), dweight_floats_, 0.0F);
  std::fill_n(dbias_.data(), dbias_floats_, 0.0F);
  const auto dy_floats = dbias_floats_ * shape_.out_height * shape_.out_width;
  for (std::size_t sample = 0; sample < in_[0]; ++sample) {
    float* dy = args.dy.data + sample * dy_floats;
    const float* y = spec_.relu ? args.y.data + sample * dy_floats : nullptr;
    kernels_.conv_bias(shape_, y, dy, dbias_.data());
    copy_padded(args.x.data + sample * in_[1] * in_[2] * in_[3]);
    kernels_.conv_weights(shape_, padded_.data(), dy, dweight_.data());
  }
  write_gradients(args.dweight, args.dbias);
}

void FirstConv2d::copy_padded(const float* x) {
  for (std::size_t channel = 0; channel < in_[1]; ++channel) {
    for (std::size_t row = 0; row < in_[2]; ++row, x += in_[3]) {
      const auto at = (channel * shape_.height + row + spec_.padding) * shape_.width + spec_.padding;
      std::copy_n(x, in_[3], padded_.data() + at);
    }
  }
}

/// From blocks of output channels to [out, in, kernel, kernel].
void FirstConv2d::write_gradients(float* dweight, float* dbias) const {
  const auto per_output = shape_.channels * shape_.kernel * shape_.kernel;
  for (std::size_t out = 0; out < spec_.out_channels; ++out) {
    const auto block = out / shape_.lanes, lane = out % shape_.lanes;
    dbias[out] = dbias_.data()[out];
    for (std::size_t i = 0; i < per_output; ++i) {
      dweight[out * per_output + i] = dweight_.data()[(block * per_output + i) * shape_.lanes + lane];
    }
  }
}

std::string FirstConv2d::implementation() const {
  return fmt::format("{}, loop:{}", conv_->implementation(), best_isa_kernels().name);
}

}  // namespace

std::unique_ptr<Op> make_onednn_first_conv2d(std::unique_ptr<Op> conv, const Conv2dSpec& spec,
                                             const TensorDesc& input) {
  const auto lanes = lanes_of(desc_of(conv->output()));
  const bool helps = !input.layout && input.shape[1] <= few_channels && (lanes == 8 || lanes == 16);
  if (!helps) return conv;
  return std::make_unique<FirstConv2d>(std::move(conv), spec, input.shape, lanes);
}

}  // namespace thalweg::gpu::host
