#include "gpu/host/isa_kernels.hpp"

#include "runtime/check.hpp"

namespace thalweg::gpu::host {

namespace baseline {
IsaKernels kernels();
}
namespace avx2 {
IsaKernels kernels();
}
namespace avx512 {
IsaKernels kernels();
}

namespace {

struct Available {
  IsaKernels kernels[3] = {};
  std::size_t count = 0;
};

/// Asks the processor once; constant afterwards.
const Available& available() {
  static const Available found = [] {
    Available result;
    result.kernels[result.count++] = baseline::kernels();
#ifdef THALWEG_ISA_X86
    __builtin_cpu_init();
    // A table is made by code of its own instruction set, so it is not even asked for elsewhere.
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
      result.kernels[result.count++] = avx2::kernels();
      if (__builtin_cpu_supports("avx512f")) result.kernels[result.count++] = avx512::kernels();
    }
#endif
    return result;
  }();
  return found;
}

}  // namespace

std::size_t isa_count() { return available().count; }

const IsaKernels& isa_kernels(std::size_t index) {
  THALWEG_CHECK(index < available().count, "the processor has that many instruction sets");
  return available().kernels[index];
}

const IsaKernels& best_isa_kernels() { return available().kernels[available().count - 1]; }

}  // namespace thalweg::gpu::host
