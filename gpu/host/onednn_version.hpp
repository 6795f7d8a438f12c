#pragma once

#include <oneapi/dnnl/dnnl.hpp>

/// Everything that is spelled differently in oneDNN 2.6 (Debian 12) and 3.x. The rest of the onednn_ files is
/// the same source for both.
namespace thalweg::gpu::host {

#if DNNL_VERSION_MAJOR >= 3

using PoolForward = dnnl::pooling_forward;
using PoolBackward = dnnl::pooling_backward;

/// The description of a forward primitive; `args` are those of its kind.
template <class Primitive, class... Args>
typename Primitive::primitive_desc describe(const dnnl::engine& engine,
                                            const dnnl::primitive_attr& attributes, const Args&... args) {
  return {engine, args..., attributes};
}

/// The description of the backward primitive that belongs to `forward`.
template <class Primitive, class Forward, class... Args>
typename Primitive::primitive_desc describe_backward(const dnnl::engine& engine,
                                                     const dnnl::primitive_attr& attributes,
                                                     const Forward& forward, const Args&... args) {
  return {engine, args..., forward, attributes};
}

inline dnnl::eltwise_forward::primitive_desc describe_relu(const dnnl::engine& engine,
                                                           const dnnl::memory::desc& data) {
  return {engine,
          dnnl::prop_kind::forward_training,
          dnnl::algorithm::eltwise_relu_use_dst_for_bwd,
          data,
          data,
          0.0F,
          0.0F};
}

inline dnnl::eltwise_backward::primitive_desc describe_relu_backward(
    const dnnl::engine& engine, const dnnl::eltwise_forward::primitive_desc& forward,
    const dnnl::memory::desc& data) {
  return {engine, dnnl::algorithm::eltwise_relu_use_dst_for_bwd, data, data, data, 0.0F, 0.0F, forward};
}

inline void append_relu(dnnl::post_ops& operations) {
  operations.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
}

inline dnnl::memory::dims dims_of(const dnnl::memory::desc& desc) { return desc.get_dims(); }

#else

using PoolForward = dnnl::pooling_v2_forward;
using PoolBackward = dnnl::pooling_v2_backward;

/// The description of a forward primitive; `args` are those of its kind.
template <class Primitive, class... Args>
typename Primitive::primitive_desc describe(const dnnl::engine& engine,
                                            const dnnl::primitive_attr& attributes, const Args&... args) {
  return {typename Primitive::desc(args...), attributes, engine};
}

/// The description of the backward primitive that belongs to `forward`.
template <class Primitive, class Forward, class... Args>
typename Primitive::primitive_desc describe_backward(const dnnl::engine& engine,
                                                     const dnnl::primitive_attr& attributes,
                                                     const Forward& forward, const Args&... args) {
  return {typename Primitive::desc(args...), attributes, engine, forward};
}

inline dnnl::eltwise_forward::primitive_desc describe_relu(const dnnl::engine& engine,
                                                           const dnnl::memory::desc& data) {
  return {dnnl::eltwise_forward::desc(dnnl::prop_kind::forward_training,
                                      dnnl::algorithm::eltwise_relu_use_dst_for_bwd, data, 0.0F, 0.0F),
          engine};
}

inline dnnl::eltwise_backward::primitive_desc describe_relu_backward(
    const dnnl::engine& engine, const dnnl::eltwise_forward::primitive_desc& forward,
    const dnnl::memory::desc& data) {
  return {dnnl::eltwise_backward::desc(dnnl::algorithm::eltwise_relu_use_dst_for_bwd, data, data, 0.0F, 0.0F),
          engine, forward};
}

inline void append_relu(dnnl::post_ops& operations) {
  operations.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
}

inline dnnl::memory::dims dims_of(const dnnl::memory::desc& desc) { return desc.dims(); }

#endif

}  // namespace thalweg::gpu::host
