#include "gpu/host/onednn_layout.hpp"

#include "gpu/host/kernels.hpp"
#include "runtime/check.hpp"

#include <omp.h>

#include <cstring>

namespace thalweg::gpu::host {
namespace {

using Tag = dnnl::memory::format_tag;

void reorder(const dnnl::memory::desc& from_desc, float* from, const dnnl::memory::desc& to_desc, float* to) {
  const OneThread one_thread;
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  dnnl::memory source(from_desc, engine, from);
  dnnl::memory target(to_desc, engine, to);
  dnnl::reorder(source, target).execute(stream, source, target);
  stream.wait();
}

}  // namespace

dnnl::memory::desc plain_desc(const dnnl::memory::dims& dims) {
  constexpr Tag tags[] = {Tag::undef, Tag::a, Tag::ab, Tag::abc, Tag::abcd};
  THALWEG_CHECK(!dims.empty() && dims.size() <= 4, "a tensor has one to four dimensions");
  return {dims, dnnl::memory::data_type::f32, tags[dims.size()]};
}

dnnl::memory::desc any_desc(const dnnl::memory::dims& dims) {
  return {dims, dnnl::memory::data_type::f32, Tag::any};
}

dnnl::memory::dims dims_of(const Shape& shape) {
  dnnl::memory::dims dims;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    dims.push_back(static_cast<dnnl::memory::dim>(shape[axis]));
  }
  return dims;
}

dnnl::memory::desc desc_of(const TensorDesc& tensor) {
  if (!tensor.layout) return plain_desc(dims_of(tensor.shape));
  const auto* layout = dynamic_cast<const OneDnnLayout*>(tensor.layout.get());
  THALWEG_CHECK(layout != nullptr, "a tensor's layout was made by the device that reads it");
  return layout->desc;
}

TensorDesc tensor_of(const dnnl::memory::desc& desc) {
  const auto dims = dims_of(desc);
  const auto size = [&](std::size_t axis) { return static_cast<std::size_t>(dims[axis]); };
  TensorDesc tensor;
  tensor.shape = dims.size() == 2 ? Shape{size(0), size(1)} : Shape{size(0), size(1), size(2), size(3)};
  tensor.bytes = desc.get_size();
  if (desc != plain_desc(dims)) tensor.layout = std::make_shared<OneDnnLayout>(desc);
  return tensor;
}

dnnl::memory::desc desc_with_lanes(const dnnl::memory::dims& dims, std::size_t lanes) {
  const auto tag = lanes == 1 ? Tag::nchw : lanes == 8 ? Tag::nChw8c : lanes == 16 ? Tag::nChw16c : Tag::nhwc;
  return {dims, dnnl::memory::data_type::f32, tag};
}

std::size_t lanes_of(const dnnl::memory::desc& desc) {
  const auto dims = dims_of(desc);
  const auto channels = static_cast<std::size_t>(dims[1]);
  for (const std::size_t lanes : {std::size_t{1}, std::size_t{8}, std::size_t{16}}) {
    if (desc == desc_with_lanes(dims, lanes)) return lanes;
  }
  return desc == dnnl::memory::desc(dims, dnnl::memory::data_type::f32, Tag::nhwc) ? channels : 0;
}

Status check_layout(const TensorDesc& tensor) {
  if (!tensor.layout || dynamic_cast<const OneDnnLayout*>(tensor.layout.get()) != nullptr) return {};
  return Error{ErrorCode::mismatch, "op on the host: the input's layout is another device's: copy it first"};
}

OneThread::OneThread() : before_(omp_get_max_threads()) {
  if (before_ != 1) omp_set_num_threads(1);
}

OneThread::~OneThread() {
  if (before_ != 1) omp_set_num_threads(before_);
}

void hold_to_one_thread() { omp_set_num_threads(1); }

void copy_to_plain(const Tensor& tensor, float* plain) {
  const auto desc = desc_of(tensor.desc);
  reorder(desc, tensor.data, plain_desc(dims_of(tensor.desc.shape)), plain);
}

void copy_from_plain(const float* plain, const Tensor& tensor) {
  const auto desc = desc_of(tensor.desc);
  // oneDNN has no read-only memory; it only reads the source of a reorder.
  reorder(plain_desc(dims_of(tensor.desc.shape)), const_cast<float*>(plain), desc, tensor.data);
}

}  // namespace thalweg::gpu::host
