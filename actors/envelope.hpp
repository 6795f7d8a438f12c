#pragma once

#include "actors/address.hpp"
#include "runtime/values/stamp.hpp"

#include <caf/meta/type_name.hpp>
#include <caf/type_id.hpp>
#include <caf/typed_actor.hpp>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// The only messages that CAF itself carries from node to node: what one postman (actors/postman.hpp) says to
/// another. Everything in them is an integer, since CAF 0.17 changes floating-point numbers on their way;
/// what a body is made of is actors/codec.hpp's business.
namespace thalweg::actors {

/// postman -> postman of another node: a message without bulk for one of your actors.
struct Envelope {
  std::uint64_t id = 0, cause = 0, hlc = 0;  ///< the stamp, part by part
  std::uint32_t term = 0, incarnation = 0;
  std::uint16_t kind = 0;
  std::uint64_t to = 0;            ///< Address::packed()
  std::vector<std::uint8_t> body;  ///< Encoded::bytes

  Envelope() = default;
  Envelope(const Stamp& stamp, Address address, std::vector<std::uint8_t> bytes)
      : id(stamp.id.bits),
        cause(stamp.cause.bits),
        hlc(stamp.hlc),
        term(stamp.term),
        incarnation(stamp.incarnation),
        kind(static_cast<std::uint16_t>(stamp.kind)),
        to(address.packed()),
        body(std::move(bytes)) {}

  [[nodiscard]] Stamp stamp() const {
    return {{id}, {cause}, hlc, term, incarnation, static_cast<MessageKind>(kind)};
  }
};

/// postman -> postman of another node, first of all: who I am. Answered by the same, so that both know whom
/// the connection leads to, whichever of them opened it.
struct Greeting {
  std::uint16_t node = 0;
  std::uint32_t incarnation = 0;
  std::uint8_t answer = 0;  ///< 1: it is one, and wants none
};

template <class Field>
inline constexpr bool crosses_unchanged =
    std::is_integral_v<Field> || std::is_same_v<Field, std::vector<std::uint8_t>>;

/// Shows `fields` to CAF's serializer.
template <class Inspector, class... Fields>
auto inspect_integers(Inspector& inspector, const char* name, Fields&... fields) {
  static_assert((crosses_unchanged<Fields> && ...),
                "CAF 0.17 changes floating-point numbers: send their bits");
  return inspector(caf::meta::type_name(name), fields...);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& inspector, Envelope& envelope) {
  auto& [id, cause, hlc, term, incarnation, kind, to, body] = envelope;
  return inspect_integers(inspector, "envelope", id, cause, hlc, term, incarnation, kind, to, body);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& inspector, Greeting& greeting) {
  auto& [node, incarnation, answer] = greeting;
  return inspect_integers(inspector, "greeting", node, incarnation, answer);
}

/// A node's postman, as other nodes see it.
using PostmanHandle = caf::typed_actor<caf::reacts_to<Envelope>, caf::reacts_to<Greeting>>;

}  // namespace thalweg::actors

CAF_BEGIN_TYPE_ID_BLOCK(thalweg, caf::first_custom_type_id)
CAF_ADD_TYPE_ID(thalweg, (thalweg::actors::Envelope))
CAF_ADD_TYPE_ID(thalweg, (thalweg::actors::Greeting))
CAF_END_TYPE_ID_BLOCK(thalweg)
