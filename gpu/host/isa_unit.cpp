#include "gpu/host/isa_unit.hpp"

namespace thalweg::gpu::host::THALWEG_ISA {

/// The table of this instruction set; host/isa_kernels.cpp names them one by one.
IsaKernels kernels() {
  IsaKernels table{THALWEG_TEXT(THALWEG_ISA), flat_kernels(), {}};
  add_pool_kernels(table.image);
  add_conv_kernels(table.image);
  return table;
}

}  // namespace thalweg::gpu::host::THALWEG_ISA
