#pragma once

#include "actors/body_fields.hpp"
#include "actors/codec.hpp"
#include "gpu/buffer.hpp"
#include "runtime/values/payload.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Bodies in which every field differs from what it is by default, and from every other, so that one which is
/// forgotten or taken for another shows.
namespace thalweg::testing {

/// The bit patterns that a careless format changes: NaN with a payload, infinities, -0, subnormals.
inline Payload awkward_vector(std::size_t size = 8) {
  auto buffer = gpu::BufferPool::make_host(size, 1)->take();
  constexpr std::uint32_t patterns[] = {0x7fc00001, 0xffc12345, 0x7f800000, 0xff800000,
                                        0x80000000, 1,          0x807fffff};
  for (std::size_t i = 0; i < size; ++i)
    buffer->values()[i] =
        i < std::size(patterns) ? std::bit_cast<float>(patterns[i]) : static_cast<float>(i) + 0.5F;
  return buffer;
}

/// Sets every number it visits to another one, every list to two elements, every choice to its last.
class Filler {
 public:
  explicit Filler(actors::MemberHandle handle = {}) : handle_(std::move(handle)) {}

  template <class... Fields>
  void operator()(Fields&&... each) {
    (fill(each), ...);
  }

 private:
  template <class Field>
  void fill(Field& field) {
    if constexpr (std::is_same_v<Field, bool>) {
      field = !field;
    } else if constexpr (std::is_integral_v<Field>) {
      field = static_cast<Field>(++next_ * 0x0101'0101'0101);
    } else {
      fields(field, *this);
    }
  }
  void fill(actors::Bits<double> field) {
    field.number = std::bit_cast<double>(0x7ff8'0000'0000'0000 + ++next_);  // a NaN of its own
  }
  template <class Enum>
  void fill(actors::Choice<Enum> field) {
    field.value = field.last;
  }
  template <class Id, class Handle>
  void fill(actors::HandleOf<Id, Handle> field) {
    field.handle = handle_;
  }
  void fill(Payload& payload) { payload = awkward_vector(8 + ++next_ % 5); }
  void fill(std::string& text) { text = "text " + std::to_string(++next_) + '\0' + "\xff"; }
  template <class Each>
  void fill(std::vector<Each>& list) {
    for (int i = 0; i < 2; ++i) {
      Each each{};
      fill(each);
      list.push_back(std::move(each));
    }
  }
  template <class Value>
  void fill(std::optional<Value>& field) {
    fill(field.emplace());
  }
  template <class Value>
  void fill(std::shared_ptr<const Value>& field) {
    auto value = std::make_shared<Value>();
    fill(*value);
    field = std::move(value);
  }

  actors::MemberHandle handle_;
  std::uint64_t next_ = 0;
};

template <class Body>
Body full_body(actors::MemberHandle handle = {}) {
  Body body{};
  Filler filler(std::move(handle));
  filler(body);
  return body;
}

}  // namespace thalweg::testing
