#include "tools/bench/peak.hpp"

#include "gpu/flat.hpp"

#include <algorithm>
#include <string>

namespace thalweg::bench {
namespace {

// A loop of its own, not one of gpu/flat.hpp: a yardstick is not made of what it measures. It is built for
// the widest vectors of the machine, as those are.
[[gnu::always_inline]] inline void triad_loop(float* __restrict a, const float* __restrict b,
                                              const float* __restrict c, float s, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) a[i] = b[i] + s * c[i];
}

using TriadLoop = void (*)(float*, const float*, const float*, float, std::size_t);

void triad_baseline(float* a, const float* b, const float* c, float s, std::size_t count) {
  triad_loop(a, b, c, s, count);
}

#ifdef __x86_64__
[[gnu::target("avx2")]] void triad_avx2(float* a, const float* b, const float* c, float s,
                                        std::size_t count) {
  triad_loop(a, b, c, s, count);
}
#ifdef __clang__
#define THALWEG_AVX512 "avx512f"
#else
#define THALWEG_AVX512 "avx512f,prefer-vector-width=512"  // which clang does not take here
#endif
[[gnu::target(THALWEG_AVX512)]] void triad_avx512(float* a, const float* b, const float* c, float s,
                                                  std::size_t count) {
  triad_loop(a, b, c, s, count);
}

TriadLoop best_triad() {
  const std::string isa = gpu::flat_kernel_isa();
  if (isa == "avx512") return triad_avx512;
  return isa == "avx2" ? triad_avx2 : triad_baseline;
}
#else
TriadLoop best_triad() { return triad_baseline; }
#endif

/// A square layer and a batch that are large enough for the library's best, small enough for a cache.
constexpr std::size_t width = 1024;
constexpr std::size_t batch = 512;
constexpr int tries = 5;

/// What one stream multiplies.
struct Product {
  std::unique_ptr<gpu::Stream> stream;
  std::unique_ptr<gpu::Op> op;
  std::shared_ptr<gpu::Buffer> x, y, weight;
};

Result<Product> make_product(gpu::Device& device) {
  Product product;
  product.stream = device.open_stream("peak");
  const auto input = gpu::TensorDesc::plain({batch, width});
  auto op = device.linear({width, false}, input);
  if (!op) return op.error();
  product.op = std::move(*op);
  product.x = device.make_pool(batch * width, 1)->take();
  product.y = device.make_pool(product.op->output().bytes / sizeof(float), 1)->take();
  product.weight = device.make_pool(width * width + width, 1)->take();
  for (const auto& buffer : {product.x, product.weight}) gpu::fill(buffer->values(), 0.5F);
  return product;
}

void multiply(const Product& product) {
  product.stream->submit(
      [&product](gpu::Stream& stream) -> Status {
        const gpu::Tensor x{gpu::TensorDesc::plain({batch, width}), product.x->values().data()};
        gpu::Tensor y{product.op->output(), product.y->values().data()};
        const float* weight = product.weight->values().data();
        product.op->forward({stream, x, y, weight, weight + width * width, true});
        return {};
      },
      [](const Status&) {});
}

}  // namespace

Triad::Triad(std::size_t bytes)
    : size_(std::max<std::size_t>(bytes / 12, 16)),
      pool_(gpu::BufferPool::make_host(size_, 3)),
      a_(pool_->take()),
      b_(pool_->take()),
      c_(pool_->take()) {
  for (const auto& buffer : {a_, b_, c_}) gpu::fill(buffer->values(), 1.0F);
}

void Triad::run() { run(0, size_); }

void Triad::run(std::size_t begin, std::size_t end) {
  static const TriadLoop loop = best_triad();
  loop(a_->values().data() + begin, b_->values().data() + begin, c_->values().data() + begin, 0.5F,
       end - begin);
}

Result<double> measured_flops(gpu::Device& device, const Clock& clock, std::size_t threads) {
  std::vector<Product> products;
  for (std::size_t i = 0; i < threads; ++i) {
    auto product = make_product(device);
    if (!product) return product.error();
    products.push_back(std::move(*product));
  }
  double best_s = 0;
  for (int i = 0; i <= tries; ++i) {
    const auto began = clock.now();
    for (const Product& product : products) multiply(product);
    for (const Product& product : products) {
      if (Status done = product.stream->record().wait(); !done) return done.error();
    }
    const double took_s = seconds(clock.now() - began);
    if (i > 0)
      best_s = i == 1 ? took_s : std::min(best_s, took_s);  // the first one makes threads and scratch
  }
  return 2.0 * batch * width * width * static_cast<double>(threads) / best_s;
}

}  // namespace thalweg::bench
