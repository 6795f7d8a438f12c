#pragma once

#include "runtime/net/traffic.hpp"
#include "runtime/wire/frame.hpp"

#include <deque>
#include <memory>
#include <optional>

/// The parcels that wait for one connection, cut into frames: before it Exchange::send, after it the socket.
/// It counts what the peer has not yet acknowledged and hands out no more than the window holds. Knows no
/// socket; on the exchange's thread.
namespace thalweg::net {

class Outbox {
 public:
  struct Options {
    PeerId self;
    bool checksums = true;
    std::size_t chunk_bytes = std::size_t{1} << 20;  ///< at most; also at most a quarter of the window
    std::uint64_t window = std::uint64_t{4} << 20;
  };

  /// `traffic` has already counted what is pushed as waiting.
  Outbox(const Options& options, std::shared_ptr<Traffic> traffic)
      : options_(options), traffic_(std::move(traffic)) {}
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;
  ~Outbox();  ///< what still waits is given up

  /// Where only the newest counts, the parcel takes the place of an older one that waits, unless something
  /// else for its actor waits behind that.
  void push(Parcel parcel);

  /// A frame to be written now.
  struct Piece {
    wire::Header header;
    std::span<const std::byte> body;  ///< in the parcel's own memory; valid until written()
  };

  /// Empty: nothing waits, or the window is full. Requires: the last one was written().
  std::optional<Piece> next();
  /// The piece handed out last is with the operating system.
  void written();

  /// The peer has read `received` bytes. False: it says less than before, or more than there were.
  [[nodiscard]] bool acknowledge(std::uint64_t received);
  /// How many bytes may be on their way. Requires: at least 1 KiB.
  void set_window(std::uint64_t bytes) { options_.window = bytes; }
  [[nodiscard]] std::uint64_t window() const { return options_.window; }
  [[nodiscard]] std::uint64_t in_flight() const { return sent_ - acknowledged_; }
  [[nodiscard]] std::uint64_t acknowledged() const { return acknowledged_; }
  [[nodiscard]] bool empty() const { return parcels_.empty(); }
  [[nodiscard]] std::size_t parcels() const { return parcels_.size(); }

 private:
  bool take_place_of_older(Parcel& parcel);
  [[nodiscard]] std::size_t next_body_bytes() const;
  [[nodiscard]] Piece head_piece() const;
  [[nodiscard]] Piece chunk_piece() const;
  void skip_finished_payloads();

  Options options_;
  std::shared_ptr<Traffic> traffic_;
  std::deque<Parcel> parcels_;
  // Of the parcel in front: how far it is.
  bool head_written_ = false;
  std::size_t payload_ = 0;
  std::size_t offset_ = 0;  ///< bytes of that payload
  std::uint64_t sequence_ = 0;

  std::uint64_t handed_out_ = 0;  ///< bytes of the piece under way
  std::uint64_t sent_ = 0, acknowledged_ = 0;
};

}  // namespace thalweg::net
