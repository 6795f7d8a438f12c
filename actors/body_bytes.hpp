#pragma once

#include "runtime/values/ids.hpp"
#include "runtime/values/payload.hpp"

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// How the parts of a body become bytes and come back: integers little-endian and of fixed width, everything
/// else made of them. A body says once what its fields are (`fields`, actors/body_fields.hpp), and both
/// directions follow it. Knows no body and no actor.
namespace thalweg::actors {

/// A number that travels as its bit pattern, since NaN, infinities and -0 must arrive as they were sent.
/// Writer and Reader take no floating-point number but in this.
template <class Number>
struct Bits {
  Number& number;
};
inline Bits<const double> bits(const double& number) { return {number}; }
inline Bits<double> bits(double& number) { return {number}; }

/// A handle: only the id before it travels; the receiver finds its own.
template <class Id, class Handle>
struct HandleOf {
  const Id& id;
  Handle& handle;
};
template <class Id, class Handle>
HandleOf<Id, Handle> handle_of(const Id& id, Handle& handle) {
  return {id, handle};
}

/// An enumeration, of which `last` is the largest value.
template <class Enum>
struct Choice {
  Enum& value;
  std::remove_const_t<Enum> last;
};
template <class Enum>
Choice<Enum> choice(Enum& value, std::remove_const_t<Enum> last) {
  return {value, last};
}

/// Turns fields into bytes; `visit(field, ...)` in order.
class Writer {
 public:
  template <class... Fields>
  void operator()(const Fields&... each) {
    (write(each), ...);
  }

  std::vector<std::byte> bytes;
  std::vector<Payload> payloads;

 private:
  template <class Number>
  void write_number(Number number) {
    using Unsigned = std::make_unsigned_t<Number>;
    auto rest = static_cast<Unsigned>(number);
    for (std::size_t i = 0; i < sizeof(Number); ++i) {
      bytes.push_back(static_cast<std::byte>(rest & 0xff));
      if constexpr (sizeof(Number) > 1) rest = static_cast<Unsigned>(rest >> 8);
    }
  }

  template <class Field>
  void write(const Field& field) {
    static_assert(!std::is_floating_point_v<Field>,
                  "write bits(number): floating-point numbers travel as bits");
    static_assert(!std::is_enum_v<Field>, "write choice(value, last): the reader must know the range");
    if constexpr (std::same_as<Field, bool>) {
      write_number(static_cast<std::uint8_t>(field ? 1 : 0));
    } else if constexpr (std::is_integral_v<Field>) {
      write_number(field);
    } else {
      fields(field, *this);
    }
  }
  void write(Bits<const double> field) { write_number(std::bit_cast<std::uint64_t>(field.number)); }
  template <class Enum>
  void write(Choice<Enum> field) {
    write_number(static_cast<std::uint8_t>(field.value));
  }
  template <class Id, class Handle>
  void write(HandleOf<Id, Handle> /*field*/) {}
  void write(const Payload& payload) { payloads.push_back(payload); }
  void write(const std::string& text) {
    write_number(static_cast<std::uint32_t>(text.size()));
    for (const char letter : text) bytes.push_back(static_cast<std::byte>(letter));
  }
  template <class Each>
  void write(const std::vector<Each>& list) {
    write_number(static_cast<std::uint32_t>(list.size()));
    for (const Each& each : list) write(each);
  }
  template <class Value>
  void write(const std::optional<Value>& field) {
    write(field.has_value());
    if (field) write(*field);
  }
  template <class Value>
  void write(const std::shared_ptr<const Value>& field) {
    write(field != nullptr);
    if (field) write(*field);
  }
};

/// Turns bytes back into fields. After the first fault it reads nothing more; `fault` says what was wrong.
/// Memory is allocated for what the bytes can hold, never for what they claim.
template <class Neighbours>
class Reader {
 public:
  Reader(std::span<const std::byte> from, std::vector<Payload> payloads, Neighbours& neighbours)
      : rest_(from), payloads_(std::move(payloads)), neighbours_(neighbours) {}

  template <class... Fields>
  void operator()(Fields&&... each) {
    (read(each), ...);
  }

  /// Nothing may be left once a body is read.
  void finish() {
    if (fault_.empty() && !rest_.empty()) fail(std::to_string(rest_.size()) + " bytes are left over");
    if (fault_.empty() && next_payload_ != payloads_.size()) fail("it came with vectors it does not have");
  }
  /// Empty: none.
  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  void fail(std::string why) {
    if (fault_.empty()) fault_ = std::move(why);
    rest_ = {};
  }

  template <class Number>
  void read_number(Number& number) {
    using Unsigned = std::make_unsigned_t<Number>;
    if (rest_.size() < sizeof(Number)) return fail("it ends too early");
    Unsigned read = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i)
      read = static_cast<Unsigned>(read | static_cast<Unsigned>(static_cast<Unsigned>(rest_[i]) << (8 * i)));
    rest_ = rest_.subspan(sizeof(Number));
    number = static_cast<Number>(read);
  }

  template <class Field>
  void read(Field& field) {
    static_assert(!std::is_floating_point_v<Field>,
                  "read bits(number): floating-point numbers travel as bits");
    static_assert(!std::is_enum_v<Field>, "read choice(value, last): a number may be out of range");
    if constexpr (std::same_as<Field, bool>) {
      std::uint8_t number = 0;
      read_number(number);
      if (number > 1) return fail("a yes or no is neither");
      field = number == 1;
    } else if constexpr (std::is_integral_v<Field>) {
      read_number(field);
    } else if (fault_.empty()) {
      fields(field, *this);
    }
  }
  void read(Bits<double> field) {
    std::uint64_t pattern = 0;
    read_number(pattern);
    field.number = std::bit_cast<double>(pattern);
  }
  template <class Enum>
  void read(Choice<Enum> field) {
    std::uint8_t number = 0;
    read_number(number);
    if (number > static_cast<std::uint8_t>(field.last)) return fail("it has a choice that is none");
    field.value = static_cast<Enum>(number);
  }
  template <class Id, class Handle>
  void read(HandleOf<Id, Handle> field) {
    if (!fault_.empty()) return;
    field.handle = neighbours_.member(field.id);
    if (!field.handle) fail("it names " + field.id.text() + ", whom this node cannot reach");
  }
  void read(Payload& payload) {
    if (next_payload_ == payloads_.size()) return fail("it came without its vectors");
    payload = std::move(payloads_[next_payload_++]);
  }
  void read(std::string& text) {
    const std::size_t count = read_count(1);
    text.clear();
    text.reserve(count);
    for (std::size_t i = 0; i < count; ++i) text.push_back(static_cast<char>(rest_[i]));
    rest_ = rest_.subspan(count);
  }
  template <class Each>
  void read(std::vector<Each>& list) {
    const std::size_t count = read_count(bytes_at_least<Each>());
    list.clear();
    // Not reserved: a count is bounded by the bytes that follow it, but an element in memory may be many
    // times what it takes at least on the wire.
    for (std::size_t i = 0; i < count && fault_.empty(); ++i) {
      Each each{};
      read(each);
      list.push_back(std::move(each));
    }
  }
  template <class Value>
  void read(std::optional<Value>& field) {
    bool there = false;
    read(there);
    field.reset();
    if (there) read(field.emplace(Value{}));
  }
  template <class Value>
  void read(std::shared_ptr<const Value>& field) {
    bool there = false;
    read(there);
    field.reset();
    if (!there) return;
    auto value = std::make_shared<Value>();
    read(*value);
    field = std::move(value);
  }

  /// Every element takes a byte at least; integers what they are wide.
  template <class Each>
  static constexpr std::size_t bytes_at_least() {
    if constexpr (std::is_integral_v<Each>) return sizeof(Each);
    return 1;
  }
  std::size_t read_count(std::size_t bytes_each) {
    std::uint32_t count = 0;
    read_number(count);
    if (fault_.empty() && count > rest_.size() / bytes_each) {
      fail("it counts " + std::to_string(count) + " where " + std::to_string(rest_.size()) +
           " bytes are left");
    }
    return fault_.empty() ? count : 0;
  }

  std::span<const std::byte> rest_;
  std::vector<Payload> payloads_;
  std::size_t next_payload_ = 0;
  Neighbours& neighbours_;
  std::string fault_;
};

}  // namespace thalweg::actors
