#pragma once

#include "runtime/values/ids.hpp"
#include "runtime/values/stamp.hpp"

#include <thalweg/result.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>

/// What two nodes say to each other on the data plane, as bytes: frames, each a header of fixed size and, for
/// some kinds, a body. FORMAT.md is the same in prose. Nothing here knows sockets or allocates by what it
/// reads.
namespace thalweg::wire {

constexpr std::size_t header_bytes = 128;
constexpr std::uint16_t format_version = 1;
constexpr std::size_t body_bytes_max = std::size_t{1} << 20;  ///< of a parcel's body and of a chunk
constexpr std::size_t payloads_max = 4;
constexpr std::uint64_t null_payload = ~std::uint64_t{0};  ///< in place of a number of floats

using RunId = std::array<std::byte, 16>;
using Header = std::array<std::byte, header_bytes>;

/// First on a connection, once in each direction; the side that dialled says it first.
struct Hello {
  RunId run{};
  NodeNumber to_node;            ///< whom its sender believes to talk to
  Incarnation to_incarnation;    ///< of that node
  std::uint32_t features = 0;    ///< what its sender asks for, `feature_...`
  std::uint32_t silence_ms = 0;  ///< after so long without progress its sender gives up
  std::uint32_t connections =
      0;  ///< with this peer that stood at its sender so far, an answer's own included
  friend bool operator==(const Hello&, const Hello&) = default;
};
/// Bodies carry checksums. They do if either side asks.
constexpr std::uint32_t feature_checksums = 1;

/// A parcel begins; its body follows the header, its payloads follow as chunks.
struct ParcelHead {
  std::uint64_t sequence = 0;  ///< counts the parcels of one direction of a connection, from 0
  Stamp stamp;
  std::uint64_t to = 0;
  std::uint32_t body_bytes = 0;
  std::uint32_t body_crc = 0;  ///< 0 without feature_checksums
  std::uint16_t payloads = 0;
  std::array<std::uint64_t, payloads_max> floats{};  ///< of each payload, or null_payload; 0 past the last
};

/// A piece of a payload; its bytes follow the header. Pieces come in order, payload by payload.
struct ChunkHead {
  std::uint64_t sequence = 0;  ///< of its parcel
  std::uint64_t offset = 0;    ///< of its first byte in the payload
  std::uint16_t payload = 0;   ///< which of the parcel's
  std::uint32_t bytes = 0;     ///< at least 1
  std::uint32_t crc = 0;       ///< 0 without feature_checksums
  friend bool operator==(const ChunkHead&, const ChunkHead&) = default;
};

/// How far its sender has read; also its sign of life while a transfer is under way.
struct Credit {
  std::uint64_t received = 0;  ///< bytes of parcels and chunks, headers included, since the connection stands
  friend bool operator==(const Credit&, const Credit&) = default;
};

/// Why a connection ends, for the other side's log.
enum class Farewell : std::uint16_t {
  closing = 1,     ///< the node ends
  wrong_run = 2,   ///< it belongs to another run
  wrong_peer = 3,  ///< it is not the node, or not the incarnation, that was dialled
  fenced = 4,      ///< this incarnation is no longer listened to
  duplicate = 5,   ///< the two have another connection
  silent = 6,      ///< no progress for too long
  corrupt = 7,     ///< what came makes no sense or has the wrong checksum
};
std::string farewell_text(Farewell why);

/// Last on a connection.
struct Bye {
  Farewell why = Farewell::closing;
  friend bool operator==(const Bye&, const Bye&) = default;
};

struct Frame {
  NodeNumber node;          ///< the sender
  Incarnation incarnation;  ///< of the sender
  std::variant<Hello, ParcelHead, ChunkHead, Credit, Bye> content;

  /// Bytes that follow the header.
  [[nodiscard]] std::size_t body_bytes() const;
};

/// What a receiver takes. A frame that asks for more is refused before anything is allocated for it.
struct Limits {
  std::uint64_t payload_floats = 0;
};

/// Requires: `frame` within body_bytes_max and payloads_max.
Header encode(const Frame& frame);

/// The reverse of encode(): accepts exactly what encode() makes, within `limits`.
/// Fails: `corrupt`, with what is wrong in words. Never throws, never allocates by what it reads.
Result<Frame> decode(std::span<const std::byte> header, const Limits& limits);

}  // namespace thalweg::wire
