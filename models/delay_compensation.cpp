#include "models/delay_compensation.hpp"

#include "gpu/flat.hpp"
#include "models/stretches.hpp"
#include "runtime/check.hpp"

#include <fmt/format.h>

namespace thalweg::models {
namespace {

double default_lambda(DelayCompensation::Mode mode) {
  return mode == DelayCompensation::Mode::adaptive ? 2 : 0.04;
}

}  // namespace

DelayCompensation::DelayCompensation(Options options, std::size_t size)
    : options_(options),
      lambda_(static_cast<float>(options.lambda.value_or(default_lambda(options.mode)))),
      size_(size) {}

bool DelayCompensation::compensate(std::span<float> out, std::span<const float> gradient_sum,
                                   double gradient_scale, std::span<const float> w,
                                   std::span<const float> w_base, TaskPool* pool) {
  THALWEG_CHECK(
      out.size() == size_ && gradient_sum.size() == size_ && w.size() == size_ && w_base.size() == size_,
      "a compensation's vectors have the size it was made for");
  const Stretch whole[] = {{0, size_, true}};
  const bool sound = in_blocks(whole, pool, [&](std::size_t from, std::size_t count, bool) {
    return gpu::all_finite(gradient_sum.subspan(from, count));
  });
  if (!sound) return false;

  if (options_.mode == Mode::adaptive) make_mean_square();
  gpu::CompensationCoefficients coefficients;
  coefficients.lambda = lambda_;
  coefficients.gradient_scale = static_cast<float>(gradient_scale);
  coefficients.decay = static_cast<float>(options_.decay);
  coefficients.rest = static_cast<float>(1 - options_.decay);
  coefficients.eps = static_cast<float>(options_.eps);
  coefficients.clamp = options_.clamp;
  coefficients.first = steps_ == 0;
  const std::span<float> mean_square = this->mean_square();
  ++steps_;
  return in_blocks(whole, pool, [&](std::size_t from, std::size_t count, bool) {
    const auto squares = mean_square.empty() ? mean_square : mean_square.subspan(from, count);
    gpu::compensate(out.subspan(from, count), gradient_sum.subspan(from, count), w.subspan(from, count),
                    w_base.subspan(from, count), squares, coefficients);
    // An infinite mean square makes every later correction 0, and looks well doing so.
    return gpu::all_finite(out.subspan(from, count)) && gpu::all_finite(squares);
  });
}

std::vector<NamedState> DelayCompensation::state() {
  if (steps_ == 0 || options_.mode == Mode::constant) return {};
  return {{mean_square_name, mean_square()}};
}

Status DelayCompensation::restore(std::span<const NamedState> saved, std::uint64_t steps) {
  std::vector<NamedState> wanted;
  if (options_.mode == Mode::adaptive && steps > 0) {
    make_mean_square();
    wanted.push_back({mean_square_name, mean_square()});
  }
  const char* name = options_.mode == Mode::adaptive ? "adaptive" : "constant";
  auto restored =
      restore_states(wanted, saved, fmt::format("{} delay compensation after {} steps", name, steps));
  if (restored) steps_ = steps;
  return restored;
}

void DelayCompensation::make_mean_square() {
  if (!mean_square_) mean_square_ = gpu::BufferPool::make_host(size_, 1)->take();
}

}  // namespace thalweg::models
