#include "gpu/host/reference_ops.hpp"

#include "gpu/host/softmax_loss.hpp"

#include <algorithm>

namespace thalweg::gpu::host {
namespace {

void relu_in_place(float* y, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) y[i] = std::max(y[i], 0.0F);
}

/// The gradient before a relu, from the one behind it and what the relu put out.
void relu_backward(float* dx, const float* dy, const float* y, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) dx[i] = y[i] > 0 ? dy[i] : 0;
}

}  // namespace

ReferenceConv2d::ReferenceConv2d(const Conv2dSpec& spec, const Shape& input, const Shape& output)
    : spec_(spec), in_(input), output_(TensorDesc::plain(output)) {}

template <class Body>
void ReferenceConv2d::for_each_run(std::size_t sample, const Body& body) const {
  const auto channels = in_[1], height = in_[2], width = in_[3];
  const auto rows = output_.shape[2], columns = output_.shape[3];
  const auto kernel = spec_.kernel, stride = spec_.stride, padding = spec_.padding;
  // The outputs o for which the input o * stride + k - padding exists: [first, last).
  const auto first = [&](std::size_t k) { return k >= padding ? 0 : (padding - k + stride - 1) / stride; };
  const auto last = [&](std::size_t k, std::size_t size, std::size_t outputs) {
    return size + padding <= k ? 0 : std::min(outputs, (size + padding - k - 1) / stride + 1);
  };
  for (std::size_t out = 0; out < spec_.out_channels; ++out) {
    for (std::size_t in = 0; in < channels; ++in) {
      for (std::size_t kh = 0; kh < kernel; ++kh) {
        for (std::size_t kw = 0; kw < kernel; ++kw) {
          const auto weight = ((out * channels + in) * kernel + kh) * kernel + kw;
          const auto left = first(kw), right = last(kw, width, columns);
          if (left >= right) continue;
          for (auto row = first(kh); row < last(kh, height, rows); ++row) {
            const auto x = ((sample * channels + in) * height + row * stride + kh - padding) * width +
                           left * stride + kw - padding;
            const auto y = ((sample * spec_.out_channels + out) * rows + row) * columns + left;
            body(x, y, weight, right - left);
          }
        }
      }
    }
  }
}

void ReferenceConv2d::forward(const ForwardArgs& args) {
  const float* x = args.x.data;
  float* y = args.y.data;
  const auto plane = output_.shape[2] * output_.shape[3];
  const auto stride = spec_.stride;
  for (std::size_t sample = 0; sample < in_[0]; ++sample) {
    for (std::size_t out = 0; out < spec_.out_channels; ++out) {
      std::fill_n(y + (sample * spec_.out_channels + out) * plane, plane, args.bias[out]);
    }
    for_each_run(sample, [&](std::size_t at_x, std::size_t at_y, std::size_t weight, std::size_t pairs) {
      const float w = args.weight[weight];
      for (std::size_t i = 0; i < pairs; ++i) y[at_y + i] += w * x[at_x + i * stride];
    });
  }
  if (spec_.relu) relu_in_place(y, output_.shape.count());
}

void ReferenceConv2d::backward(const BackwardArgs& args) {
  const float* x = args.x.data;
  float* dy = args.dy.data;
  const auto plane = output_.shape[2] * output_.shape[3];
  const auto stride = spec_.stride;
  if (spec_.relu) relu_backward(dy, dy, args.y.data, output_.shape.count());

  std::fill_n(args.dweight, spec_.out_channels * in_[1] * spec_.kernel * spec_.kernel, 0.0F);
  std::fill_n(args.dbias, spec_.out_channels, 0.0F);
  if (args.dx != nullptr) std::fill_n(args.dx->data, in_.count(), 0.0F);
  for (std::size_t sample = 0; sample < in_[0]; ++sample) {
    for (std::size_t out = 0; out < spec_.out_channels; ++out) {
      double sum = 0;
      for (std::size_t i = 0; i < plane; ++i) {
        sum += static_cast<double>(dy[(sample * spec_.out_channels + out) * plane + i]);
      }
      args.dbias[out] += static_cast<float>(sum);
    }
    for_each_run(sample, [&](std::size_t at_x, std::size_t at_y, std::size_t weight, std::size_t pairs) {
      float sum = 0;
      for (std::size_t i = 0; i < pairs; ++i) sum += dy[at_y + i] * x[at_x + i * stride];
      args.dweight[weight] += sum;
      if (args.dx == nullptr) return;
      const float w = args.weight[weight];
      float* dx = args.dx->data;
      for (std::size_t i = 0; i < pairs; ++i) dx[at_x + i * stride] += w * dy[at_y + i];
    });
  }
}

ReferenceLinear::ReferenceLinear(const LinearSpec& spec, const Shape& input, const Shape& output)
    : spec_(spec),
      samples_(input[0]),
      features_(input.count() / input[0]),
      output_(TensorDesc::plain(output)) {}

void ReferenceLinear::forward(const ForwardArgs& args) {
  for (std::size_t sample = 0; sample < samples_; ++sample) {
    const float* x = args.x.data + sample * features_;
    float* y = args.y.data + sample * spec_.out_features;
    for (std::size_t out = 0; out < spec_.out_features; ++out) {
      const float* w = args.weight + out * features_;
      double sum = static_cast<double>(args.bias[out]);
      for (std::size_t i = 0; i < features_; ++i) sum += static_cast<double>(x[i] * w[i]);
      y[out] = static_cast<float>(sum);
    }
  }
  if (spec_.relu) relu_in_place(args.y.data, output_.shape.count());
}

void ReferenceLinear::backward(const BackwardArgs& args) {
  const auto outputs = spec_.out_features;
  float* all_dy = args.dy.data;
  if (spec_.relu) relu_backward(all_dy, all_dy, args.y.data, output_.shape.count());

  std::fill_n(args.dweight, outputs * features_, 0.0F);
  std::fill_n(args.dbias, outputs, 0.0F);
  if (args.dx != nullptr) std::fill_n(args.dx->data, samples_ * features_, 0.0F);
  for (std::size_t sample = 0; sample < samples_; ++sample) {
    const float* x = args.x.data + sample * features_;
    const float* dy = all_dy + sample * outputs;
    for (std::size_t out = 0; out < outputs; ++out) {
      float* dw = args.dweight + out * features_;
      for (std::size_t i = 0; i < features_; ++i) dw[i] += dy[out] * x[i];
      args.dbias[out] += dy[out];
      if (args.dx == nullptr) continue;
      const float* w = args.weight + out * features_;
      float* dx = args.dx->data + sample * features_;
      for (std::size_t i = 0; i < features_; ++i) dx[i] += dy[out] * w[i];
    }
  }
}

ReferencePool2d::ReferencePool2d(const Pool2dSpec& spec, const Shape& input, const Shape& output)
    : spec_(spec), in_(input), output_(TensorDesc::plain(output)) {}

template <class Body>
void ReferencePool2d::for_each_window(const Body& body) const {
  const auto height = in_[2], width = in_[3];
  std::size_t y = 0;
  for (std::size_t plane = 0; plane < in_[0] * in_[1]; ++plane) {
    for (std::size_t row = 0; row < output_.shape[2]; ++row) {
      for (std::size_t column = 0; column < output_.shape[3]; ++column) {
        body(y++, (plane * height + row * spec_.stride) * width + column * spec_.stride);
      }
    }
  }
}

std::size_t ReferencePool2d::largest(const float* x) const {
  std::size_t best = 0;
  for (std::size_t kh = 0; kh < spec_.kernel; ++kh) {
    for (std::size_t kw = 0; kw < spec_.kernel; ++kw) {
      if (x[kh * in_[3] + kw] > x[best]) best = kh * in_[3] + kw;
    }
  }
  return best;
}

void ReferencePool2d::forward(const ForwardArgs& args) {
  const float* x = args.x.data;
  float* y = args.y.data;
  const auto area = static_cast<float>(spec_.kernel * spec_.kernel);
  for_each_window([&](std::size_t at_y, std::size_t at_x) {
    if (spec_.kind == Pool2dSpec::Kind::max) {
      y[at_y] = x[at_x + largest(x + at_x)];
      return;
    }
    float sum = 0;
    for (std::size_t kh = 0; kh < spec_.kernel; ++kh) {
      for (std::size_t kw = 0; kw < spec_.kernel; ++kw) sum += x[at_x + kh * in_[3] + kw];
    }
    y[at_y] = sum / area;
  });
}

void ReferencePool2d::backward(const BackwardArgs& args) {
  if (args.dx == nullptr) return;
  const float* x = args.x.data;
  const float* dy = args.dy.data;
  float* dx = args.dx->data;
  const auto area = static_cast<float>(spec_.kernel * spec_.kernel);
  std::fill_n(dx, in_.count(), 0.0F);
  for_each_window([&](std::size_t at_y, std::size_t at_x) {
    if (spec_.kind == Pool2dSpec::Kind::max) {
      dx[at_x + largest(x + at_x)] += dy[at_y];
      return;
    }
    for (std::size_t kh = 0; kh < spec_.kernel; ++kh) {
      for (std::size_t kw = 0; kw < spec_.kernel; ++kw) dx[at_x + kh * in_[3] + kw] += dy[at_y] / area;
    }
  });
}

ReferenceRelu::ReferenceRelu(const Shape& input) : output_(TensorDesc::plain(input)) {}

void ReferenceRelu::forward(const ForwardArgs& args) {
  std::copy_n(args.x.data, output_.shape.count(), args.y.data);
  relu_in_place(args.y.data, output_.shape.count());
}

void ReferenceRelu::backward(const BackwardArgs& args) {
  if (args.dx == nullptr) return;
  relu_backward(args.dx->data, args.dy.data, args.y.data, output_.shape.count());
}

Score ReferenceLoss::run(Stream&, const Tensor& logits, const std::int32_t* labels, Tensor* dlogits) {
  return softmax_cross_entropy(logits.data, labels, dlogits != nullptr ? dlogits->data : nullptr, logits_[0],
                               logits_[1]);
}

}  // namespace thalweg::gpu::host
