#pragma once

#include "gpu/host/aligned_memory.hpp"
#include "gpu/host/onednn_version.hpp"

#include <utility>
#include <vector>

/// What every oneDNN op is made of: primitives with their arguments bound once, and memory that changes its
/// layout on the way in or out where a primitive wants another one. Nothing here allocates after
/// construction.
namespace thalweg::gpu::host {

/// Where primitives run: one per op, since an op is used by one thread at a time.
struct Context {
  explicit Context(const dnnl::engine& on) : engine(on), stream(on) {}
  dnnl::engine engine;
  dnnl::stream stream;
};

/// A primitive and the memory it works on.
class Call {
 public:
  using Arguments = std::vector<std::pair<int, dnnl::memory>>;  ///< DNNL_ARG_..., memory

  Call() = default;
  Call(dnnl::primitive primitive, Arguments arguments);
  void run(const Context& context) const;

 private:
  dnnl::primitive primitive_;
  Arguments arguments_;  ///< keeps alive what `handles_` points to
  std::vector<dnnl_exec_arg_t> handles_;
};

/// One argument of a primitive, from both sides: as the caller has it and as the primitive wants it. When the
/// two differ there is a buffer between them.
class Operand {
 public:
  enum class Direction { in, out };

  Operand() = default;
  Operand(const Context& context, Direction direction, const dnnl::memory::desc& given,
          const dnnl::memory::desc& wanted);

  /// Before the primitive runs: tells where the caller's data is; `in` also brings it into the wanted layout.
  void bind(const Context& context, const float* data);
  /// After the primitive has run: `out` brings the result into the caller's layout.
  void finish(const Context& context) const;

  /// What the primitive reads or writes.
  [[nodiscard]] const dnnl::memory& wanted() const { return wanted_; }
  /// The caller's data as it is.
  [[nodiscard]] const dnnl::memory& given() const { return given_; }
  [[nodiscard]] bool reorders() const { return buffer_.data() != nullptr; }
  [[nodiscard]] const char* implementation() const { return implementation_; }

 private:
  const float* bound_ = nullptr;
  dnnl::memory given_;
  dnnl::memory wanted_;
  AlignedMemory buffer_;
  Direction direction_ = Direction::in;
  Call reorder_;
  const char* implementation_ = "";
};

/// The scratch memory primitives of one op share, as large as the largest wants.
class Scratch {
 public:
  explicit Scratch(std::vector<dnnl::memory::desc> wants);
  /// For DNNL_ARG_SCRATCHPAD of the primitive that wanted `desc`.
  [[nodiscard]] dnnl::memory memory(const Context& context, const dnnl::memory::desc& desc) const;

 private:
  AlignedMemory memory_;
};

/// Memory that is bound to data later.
dnnl::memory unbound(const Context& context, const dnnl::memory::desc& desc);

/// Attributes of every primitive: scratch memory is ours.
dnnl::primitive_attr attributes(bool relu);

}  // namespace thalweg::gpu::host
