#include "actors/codec.hpp"

#include "actors/body_fields.hpp"
#include "runtime/check.hpp"

#include <fmt/format.h>

#include <limits>
#include <type_traits>
#include <utility>

namespace thalweg::actors {

namespace {

/// First byte of every body: which format its kind is written in. To be raised when its fields change.
template <class Body>
constexpr std::uint8_t format_of = 1;
template <>
constexpr std::uint8_t format_of<Parameters> = 2;
template <>
constexpr std::uint8_t format_of<Apply> = 2;
template <>
constexpr std::uint8_t format_of<Heartbeat> = 2;

template <class Body>
Result<TravellingBody> decode_as(std::span<const std::byte> bytes, std::vector<Payload> payloads,
                                 Neighbours& neighbours) {
  const std::string name = kind_name(kind_of<Body>);
  if (bytes.empty()) return Error{ErrorCode::corrupt, fmt::format("{} cannot be read: it is empty", name)};
  const auto format = static_cast<std::uint8_t>(bytes.front());
  if (format != format_of<Body>) {
    return Error{
        ErrorCode::mismatch,
        fmt::format("{} cannot be read: it is in format {}, not {}: run the same release on all nodes", name,
                    format, format_of<Body>)};
  }
  Reader reader(bytes.subspan(1), std::move(payloads), neighbours);
  Body body{};
  reader(body);
  reader.finish();
  if (!reader.fault().empty()) {
    return Error{ErrorCode::corrupt, fmt::format("{} cannot be read: {}", name, reader.fault())};
  }
  return TravellingBody(std::in_place_type<Body>, std::move(body));
}

}  // namespace

template <class Body>
Encoded encode(const Body& body) {
  static_assert(travels<Body>);
  Writer writer;
  writer(format_of<Body>, body);
  THALWEG_CHECK(writer.bytes.size() <= std::numeric_limits<std::uint32_t>::max(),
                "no count of a body's parts is beyond 32 bits");
  return {std::move(writer.bytes), std::move(writer.payloads)};
}

template <class Variant>
struct Codecs;
template <class... Bodies>
struct Codecs<std::variant<Bodies...>> {
  static_assert(((kind_of<Bodies> != MessageKind::none) && ...), "each has a kind in actors/messages.hpp");

  static Result<TravellingBody> decode(MessageKind kind, std::span<const std::byte> bytes,
                                       std::vector<Payload>& payloads, Neighbours& neighbours) {
    std::optional<Result<TravellingBody>> body;
    // Goes through the bodies until one is of that kind.
    (void)((kind == kind_of<Bodies> &&
            (body.emplace(decode_as<Bodies>(bytes, std::move(payloads), neighbours)), true)) ||
           ...);
    if (body) return *std::move(body);
    return Error{ErrorCode::corrupt, fmt::format("{} does not travel between nodes", kind_name(kind))};
  }
};

Result<TravellingBody> decode(MessageKind kind, std::span<const std::byte> bytes,
                              std::vector<Payload> payloads, Neighbours& neighbours) {
  return Codecs<TravellingBody>::decode(kind, bytes, payloads, neighbours);
}

template Encoded encode(const Contribution&);
template Encoded encode(const Parameters&);
template Encoded encode(const Roster&);
template Encoded encode(const Lease&);
template Encoded encode(const Served&);
template Encoded encode(const Fenced&);
template Encoded encode(const Drained&);
template Encoded encode(const DataSpent&);
template Encoded encode(const Progress&);
template Encoded encode(const Pull&);
template Encoded encode(const Slowest&);
template Encoded encode(const Stop&);
template Encoded encode(const Stopped&);
template Encoded encode(const Failed&);
template Encoded encode(const Left&);
template Encoded encode(const Fetch&);
template Encoded encode(const Holding&);
template Encoded encode(const Inquire&);
template Encoded encode(const Report&);
template Encoded encode(const Apply&);
template Encoded encode(const Admit&);
template Encoded encode(const Refuse&);
template Encoded encode(const Ready&);
template Encoded encode(const Host&);
template Encoded encode(const Hosted&);
template Encoded encode(const Dismiss&);
template Encoded encode(const Heartbeat&);
template Encoded encode(const Leave&);

}  // namespace thalweg::actors
