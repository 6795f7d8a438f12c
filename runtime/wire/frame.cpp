#include "runtime/wire/frame.hpp"

#include "runtime/check.hpp"
#include "runtime/wire/crc32c.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <type_traits>

namespace thalweg::wire {
namespace {

constexpr std::uint32_t magic = 0x574c4854;  // "THLW" as it lies on the wire
constexpr std::size_t content_at = 24;
constexpr std::size_t crc_at = header_bytes - 4;

enum class FrameKind : std::uint16_t { hello = 1, parcel = 2, chunk = 3, credit = 4, bye = 5 };

/// Walks over a header and writes numbers, low byte first; with Reader it is the two halves of the codec, so
/// that layout() below is the only place that knows where a field lies.
class Writer {
 public:
  explicit Writer(Header& header) : header_(header) {}
  void number(std::unsigned_integral auto value) {
    for (std::size_t i = 0; i < sizeof(value); ++i) {
      header_[at_++] = static_cast<std::byte>(value >> (8 * i));
    }
  }
  void bytes(const RunId& run) {
    std::ranges::copy(run, header_.begin() + static_cast<std::ptrdiff_t>(at_));
    at_ += run.size();
  }
  void kind(auto kind) { number(static_cast<std::uint16_t>(kind)); }
  void go_to(std::size_t at) { at_ = at; }

 private:
  Header& header_;
  std::size_t at_ = 0;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> header) : header_(header) {}
  template <std::unsigned_integral Number>
  void number(Number& value) {
    value = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i) {
      value = static_cast<Number>(value | static_cast<Number>(header_[at_++]) << (8 * i));
    }
  }
  void bytes(RunId& run) {
    std::ranges::copy(header_.subspan(at_, run.size()), run.begin());
    at_ += run.size();
  }
  void kind(auto& kind) {
    std::uint16_t value = 0;
    number(value);
    kind = static_cast<std::remove_reference_t<decltype(kind)>>(value);
  }
  void go_to(std::size_t at) { at_ = at; }

 private:
  std::span<const std::byte> header_;
  std::size_t at_ = 0;
};

/// To be written from, const, or read into.
template <class T, class Of>
concept Is = std::is_same_v<std::remove_const_t<T>, Of>;

/// The fields of each kind from byte `content_at` on; what lies between two go_to is zero.
void layout(auto& codec, Is<Hello> auto& hello) {
  codec.bytes(hello.run);
  codec.number(hello.to_incarnation.value);
  codec.number(hello.features);
  codec.number(hello.silence_ms);
  codec.number(hello.connections);
  codec.number(hello.to_node.value);
}

void layout(auto& codec, Is<ParcelHead> auto& parcel) {
  codec.number(parcel.sequence);
  codec.number(parcel.stamp.id.bits);
  codec.number(parcel.stamp.cause.bits);
  codec.number(parcel.stamp.hlc);
  codec.number(parcel.stamp.term);
  codec.number(parcel.stamp.incarnation);
  codec.number(parcel.to);
  for (auto& floats : parcel.floats) codec.number(floats);
  codec.kind(parcel.stamp.kind);
  codec.number(parcel.payloads);
}

void layout(auto& codec, Is<ChunkHead> auto& chunk) {
  codec.number(chunk.sequence);
  codec.number(chunk.offset);
  codec.number(chunk.payload);
}

void layout(auto& codec, Is<Credit> auto& credit) { codec.number(credit.received); }

void layout(auto& codec, Is<Bye> auto& bye) { codec.kind(bye.why); }

/// What stands before the content, in every frame.
struct Prefix {
  std::uint32_t magic = 0;
  std::uint16_t version = 0;
  FrameKind kind{};
  std::uint32_t body_bytes = 0;
  std::uint32_t body_crc = 0;
  std::uint32_t incarnation = 0;
  std::uint16_t node = 0;
};

void layout(auto& codec, Is<Prefix> auto& prefix) {
  codec.number(prefix.magic);
  codec.number(prefix.version);
  codec.kind(prefix.kind);
  codec.number(prefix.body_bytes);
  codec.number(prefix.body_crc);
  codec.number(prefix.incarnation);
  codec.number(prefix.node);
}

Error wrong(std::string text) { return {ErrorCode::corrupt, "frame: " + std::move(text)}; }

Status check_parcel(const ParcelHead& parcel, const Limits& limits) {
  if (parcel.payloads > payloads_max) {
    return wrong(fmt::format("a parcel of {} payloads: at most {}", parcel.payloads, payloads_max));
  }
  for (std::size_t i = 0; i < payloads_max; ++i) {
    const std::uint64_t floats = parcel.floats[i];
    if (i >= parcel.payloads && floats != 0) return wrong("a size for a payload that there is not");
    if (floats != null_payload && floats > limits.payload_floats) {
      return wrong(fmt::format("a payload of {} floats: at most {}", floats, limits.payload_floats));
    }
  }
  return {};
}

Status check_chunk(const ChunkHead& chunk) {
  if (chunk.payload >= payloads_max) return wrong(fmt::format("a chunk of payload {}", chunk.payload));
  if (chunk.bytes == 0) return wrong("a chunk of no bytes");
  return {};
}

Status check_bye(const Bye& bye) {
  if (bye.why < Farewell::closing || bye.why > Farewell::corrupt) {
    return wrong(fmt::format("a farewell for reason {}", static_cast<unsigned>(bye.why)));
  }
  return {};
}

/// Reads the content of `prefix.kind` into `frame`.
Status read_content(Reader& reader, const Prefix& prefix, const Limits& limits, Frame& frame) {
  switch (prefix.kind) {
    case FrameKind::hello:
      layout(reader, frame.content.emplace<Hello>());
      return {};
    case FrameKind::parcel: {
      auto& parcel = frame.content.emplace<ParcelHead>();
      layout(reader, parcel);
      parcel.body_bytes = prefix.body_bytes;
      parcel.body_crc = prefix.body_crc;
      return check_parcel(parcel, limits);
    }
    case FrameKind::chunk: {
      auto& chunk = frame.content.emplace<ChunkHead>();
      layout(reader, chunk);
      chunk.bytes = prefix.body_bytes;
      chunk.crc = prefix.body_crc;
      return check_chunk(chunk);
    }
    case FrameKind::credit:
      layout(reader, frame.content.emplace<Credit>());
      return {};
    case FrameKind::bye: {
      auto& bye = frame.content.emplace<Bye>();
      layout(reader, bye);
      return check_bye(bye);
    }
  }
  return wrong(fmt::format("kind {} is none that this release knows", static_cast<unsigned>(prefix.kind)));
}

Prefix prefix_of(const Frame& frame) {
  Prefix prefix{.magic = magic,
                .version = format_version,
                .kind = static_cast<FrameKind>(frame.content.index() + 1),
                .incarnation = frame.incarnation.value,
                .node = frame.node.value};
  if (const auto* parcel = std::get_if<ParcelHead>(&frame.content)) {
    prefix.body_bytes = parcel->body_bytes;
    prefix.body_crc = parcel->body_crc;
  } else if (const auto* chunk = std::get_if<ChunkHead>(&frame.content)) {
    prefix.body_bytes = chunk->bytes;
    prefix.body_crc = chunk->crc;
  }
  return prefix;
}

}  // namespace

std::string farewell_text(Farewell why) {
  switch (why) {
    case Farewell::closing:
      return "it ends";
    case Farewell::wrong_run:
      return "it belongs to another run";
    case Farewell::wrong_peer:
      return "it is another node, or another incarnation of it";
    case Farewell::fenced:
      return "it no longer listens to this incarnation";
    case Farewell::duplicate:
      return "it has another connection with this node";
    case Farewell::silent:
      return "it saw no progress for too long";
    case Farewell::corrupt:
      return "what it received made no sense";
  }
  return "of a reason unknown to this release";
}

std::size_t Frame::body_bytes() const { return prefix_of(*this).body_bytes; }

Header encode(const Frame& frame) {
  Header header{};
  Writer writer(header);
  const Prefix prefix = prefix_of(frame);
  THALWEG_CHECK(prefix.body_bytes <= body_bytes_max, "a frame's body has at most 1 MiB");
  layout(writer, prefix);
  writer.go_to(content_at);
  std::visit([&writer](const auto& content) { layout(writer, content); }, frame.content);
  writer.go_to(crc_at);
  writer.number(crc32c(std::span(header).first(crc_at)));
  return header;
}

Result<Frame> decode(std::span<const std::byte> header, const Limits& limits) {
  if (header.size() != header_bytes) {
    return wrong(fmt::format("a header has {} bytes, not {}", header_bytes, header.size()));
  }
  Reader reader(header);
  Prefix prefix;
  layout(reader, prefix);
  if (prefix.magic != magic) return wrong("it does not begin as one: the other side is no Thalweg node");
  if (prefix.version != format_version) {
    return wrong(fmt::format("format {}, where this release speaks {}: use one release everywhere",
                             prefix.version, format_version));
  }
  std::uint32_t crc = 0;
  reader.go_to(crc_at);
  reader.number(crc);
  if (crc != crc32c(header.first(crc_at))) return wrong("the header's checksum is wrong");
  if (prefix.body_bytes > body_bytes_max) {
    return wrong(fmt::format("a body of {} bytes: at most {}", prefix.body_bytes, body_bytes_max));
  }
  Frame frame{{prefix.node}, {prefix.incarnation}, {}};
  reader.go_to(content_at);
  if (const Status read = read_content(reader, prefix, limits, frame); !read) return read.error();
  // One meaning has one spelling: what no field of this kind owns is zero.
  if (!std::ranges::equal(encode(frame), header)) return wrong("bytes that this kind does not use are set");
  return frame;
}

}  // namespace thalweg::wire
