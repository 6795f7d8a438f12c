#pragma once

#include "gpu/device.hpp"
#include "gpu/host/aligned_memory.hpp"
#include "gpu/host/kernels.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

/// Runs one op of one device on plain numbers: what the tests of ops share. Every memory an op is to
/// overwrite starts as NaN, and has a tail it must leave alone.
namespace thalweg::gpu::testing {

using Values = std::vector<float>;

inline Values random_values(std::size_t count, unsigned seed, float scale = 1) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(-scale, scale);
  Values values(count);
  for (auto& value : values) value = uniform(engine);
  return values;
}

/// Memory of `floats` floats and 32 more, all NaN.
class Poisoned {
 public:
  explicit Poisoned(std::size_t floats) : memory_((floats + tail) * sizeof(float)), floats_(floats) {
    for (std::size_t i = 0; i < floats + tail; ++i)
      memory_.data()[i] = std::numeric_limits<float>::quiet_NaN();
  }
  [[nodiscard]] float* data() const { return memory_.data(); }
  [[nodiscard]] bool tail_untouched() const {
    for (std::size_t i = floats_; i < floats_ + tail; ++i) {
      if (!std::isnan(memory_.data()[i])) return false;
    }
    return true;
  }
  [[nodiscard]] bool any_nan() const {
    for (std::size_t i = 0; i < floats_; ++i) {
      if (std::isnan(memory_.data()[i])) return true;
    }
    return false;
  }
  [[nodiscard]] Values values() const { return {memory_.data(), memory_.data() + floats_}; }

 private:
  static constexpr std::size_t tail = 32;
  host::AlignedMemory memory_;
  std::size_t floats_;
};

/// What an op made of its inputs, all plain.
struct OpResult {
  Values y, dx, dweight, dbias;
  bool tails_untouched = true;
  bool layout_padding_clean = true;  ///< no NaN is left in what a layout adds around y and dx
};

struct OpInputs {
  Values x, dy, weight, bias;
  bool wants_dx = true;
};

/// Forward and backward of `op`, `times` over.
inline OpResult run_op(Op& op, const TensorDesc& input, Stream& stream, const OpInputs& in, int times = 1) {
  Poisoned x(input.bytes / sizeof(float)), y(op.output().bytes / sizeof(float)), dy(y.values().size()),
      dx(x.values().size()), dweight(in.weight.size()), dbias(in.bias.size()), weight(in.weight.size()),
      bias(in.bias.size());
  std::copy(in.weight.begin(), in.weight.end(), weight.data());
  std::copy(in.bias.begin(), in.bias.end(), bias.data());
  const Tensor x_tensor{input, x.data()}, dy_tensor{op.output(), dy.data()};
  Tensor y_tensor{op.output(), y.data()}, dx_tensor{input, dx.data()};
  host::copy_from_plain(in.x.data(), x_tensor);
  for (int time = 0; time < times; ++time) {
    host::copy_from_plain(in.dy.data(), dy_tensor);
    op.forward({stream, x_tensor, y_tensor, weight.data(), bias.data(), true});
    op.backward({stream, x_tensor, y_tensor, dy_tensor, in.wants_dx ? &dx_tensor : nullptr, weight.data(),
                 dweight.data(), dbias.data()});
  }
  OpResult result{Values(op.output().shape.count()), Values(input.shape.count()), dweight.values(),
                  dbias.values()};
  host::copy_to_plain(y_tensor, result.y.data());
  if (in.wants_dx) host::copy_to_plain(dx_tensor, result.dx.data());
  for (const auto* memory : {&x, &y, &dy, &dx, &dweight, &dbias}) {
    result.tails_untouched = result.tails_untouched && memory->tail_untouched();
  }
  result.layout_padding_clean = !y.any_nan() && !(in.wants_dx && dx.any_nan());
  return result;
}

/// ‖a - b‖ / ‖b‖ in double; infinite when the sizes differ, NaN when a number is.
inline double relative_distance(const Values& a, const Values& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    norm += std::pow(static_cast<double>(b[i]), 2);
  }
  return difference == 0 ? 0 : std::sqrt(difference / norm);
}

}  // namespace thalweg::gpu::testing
