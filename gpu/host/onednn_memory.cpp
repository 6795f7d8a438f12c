#include "gpu/host/onednn_memory.hpp"

#include <algorithm>

namespace thalweg::gpu::host {

Call::Call(dnnl::primitive primitive, Arguments arguments)
    : primitive_(std::move(primitive)), arguments_(std::move(arguments)) {
  for (const auto& [index, memory] : arguments_) handles_.push_back({index, memory.get()});
}

void Call::run(const Context& context) const {
  // The C++ call would build this array anew each time.
  dnnl::error::wrap_c_api(dnnl_primitive_execute(primitive_.get(), context.stream.get(),
                                                 static_cast<int>(handles_.size()), handles_.data()),
                          "could not execute a primitive");
}

Operand::Operand(const Context& context, Direction direction, const dnnl::memory::desc& given,
                 const dnnl::memory::desc& wanted)
    : given_(unbound(context, given)), direction_(direction) {
  if (given == wanted) {
    wanted_ = given_;
    return;
  }
  buffer_ = AlignedMemory(wanted.get_size());
  wanted_ = dnnl::memory(wanted, context.engine, buffer_.data());
  const bool in = direction == Direction::in;
  const auto& source = in ? given_ : wanted_;
  const auto& target = in ? wanted_ : given_;
  const dnnl::reorder::primitive_desc reorder(source, target);
  implementation_ = reorder.impl_info_str();
  reorder_ = Call(dnnl::reorder(reorder), {{DNNL_ARG_FROM, source}, {DNNL_ARG_TO, target}});
}

void Operand::bind(const Context& context, const float* data) {
  // Each set_data_handle clears the padding of a blocked layout, which may cost as much as the primitive; the
  // caller's buffers hardly ever move.
  if (data != bound_) {
    given_.set_data_handle(const_cast<float*>(data));  // oneDNN has no read-only memory
    bound_ = data;
  }
  if (direction_ == Direction::in && reorders()) reorder_.run(context);
}

void Operand::finish(const Context& context) const {
  if (direction_ == Direction::out && reorders()) reorder_.run(context);
}

Scratch::Scratch(std::vector<dnnl::memory::desc> wants) {
  std::size_t bytes = 0;
  for (const auto& desc : wants) bytes = std::max(bytes, desc.get_size());
  memory_ = AlignedMemory(bytes);
}

dnnl::memory Scratch::memory(const Context& context, const dnnl::memory::desc& desc) const {
  return dnnl::memory(desc, context.engine, memory_.data());
}

dnnl::memory unbound(const Context& context, const dnnl::memory::desc& desc) {
  return dnnl::memory(desc, context.engine, DNNL_MEMORY_NONE);
}

dnnl::primitive_attr attributes(bool relu) {
  dnnl::primitive_attr result;
  result.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (relu) {
    dnnl::post_ops operations;
    append_relu(operations);
    result.set_post_ops(operations);
  }
  return result;
}

}  // namespace thalweg::gpu::host
