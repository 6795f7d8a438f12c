#pragma once

#include "runtime/net/inbox.hpp"
#include "runtime/net/outbox.hpp"
#include "runtime/net/pace.hpp"
#include "runtime/net/stream.hpp"
#include "runtime/wire/frame.hpp"

#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

/// One connection with one peer, from the first byte to the last: TLS, hellos, then parcels both ways. Above
/// it the exchange (asio_exchange.cpp), which decides who may talk; below it the stream. On the exchange's
/// thread.
///
///     greeting ──hellos are through──▶ open ──┐
///         └──────────────┬───────────────────┘
///                        ▼ refused, silent, damaged, gone
///                      ended
namespace thalweg::net {

/// How a connection ended.
struct Ending {
  enum class Cause {
    closed,     ///< the peer went away
    handshake,  ///< TLS could not be agreed on: no certificate, or a stranger's
    wrong_run,  ///< see wire::Farewell, and the same below
    wrong_peer,
    fenced,
    duplicate,
    silent,
    corrupt,
    said_bye,  ///< the peer did, and gave its reason
  };
  Cause cause = Cause::closed;
  std::string why;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Clock = std::chrono::steady_clock;

  struct Settings {
    PeerId self;
    wire::RunId run{};
    std::chrono::milliseconds silence{2000};
    std::size_t chunk_bytes = wire::body_bytes_max;
    std::uint64_t payload_floats_max = 0;
    bool checksums = true;
  };

  /// Called from inside the connection's own calls and handlers, at most one of each but `asked` and
  /// `stands`.
  class Owner {
   public:
    virtual ~Owner() = default;
    /// An accepted connection's peer has said a fitting hello: answer() or close() it, now or later.
    virtual void asked(const std::shared_ptr<Connection>& connection) = 0;
    /// A dialled connection's peer has answered: it is open.
    virtual void stands(const std::shared_ptr<Connection>& connection) = 0;
    /// It is over, by itself. Not called after close().
    virtual void ended(const std::shared_ptr<Connection>& connection, const Ending& ending) = 0;
    [[nodiscard]] virtual std::shared_ptr<Traffic> traffic(PeerId peer) = 0;
  };

  Connection(Stream::Side side, std::unique_ptr<Stream> stream, const Settings& settings, Owner& owner,
             ExchangeListener& listener);

  /// Greets `peer`; `connections`: as in the hello.
  void dial(PeerId peer, std::uint32_t connections);
  /// Waits for the peer's hello.
  void accept();
  /// Answers it. Requires: the owner was asked.
  void answer(std::uint32_t connections);
  /// Sends a parcel. Requires: open().
  void send(Parcel parcel);
  /// Ends it, with a last word if one can be said at once. The owner is not told.
  void close(wire::Farewell farewell);

  [[nodiscard]] bool open() const { return state_ == State::open; }
  [[nodiscard]] Stream::Side side() const { return side_; }
  [[nodiscard]] PeerId peer() const { return peer_; }
  [[nodiscard]] const std::string& remote() const { return stream_->remote(); }
  /// What its hello says of connections with us.
  [[nodiscard]] std::uint32_t peer_connections() const { return peer_hello_.connections; }

 private:
  enum class State { greeting, asked, open, ended };

  // connection.cpp: from the first byte to the hellos, and the end.
  void write_hello(std::uint32_t connections);
  void read_hello();
  void greeted(const wire::Frame& frame);
  void begin();
  void end(Ending::Cause cause, std::string why, std::optional<wire::Farewell> farewell);
  void finish(std::optional<wire::Farewell> farewell);
  void start_ticking();
  void tick();
  [[nodiscard]] std::string silence_text() const;

  // connection_traffic.cpp: while it is open.
  void read_header();
  void take(const wire::Frame& frame);
  void take_body(const wire::Frame& frame);
  void body_arrived(std::size_t bytes);
  void land();
  void credit(const wire::Credit& credit);
  void keep_pace(Clock::time_point now);
  void write_next();
  void write(const wire::Header& header, std::span<const std::byte> body, bool piece);
  void report_progress();
  void check_progress(Clock::time_point now);
  [[nodiscard]] std::uint64_t data_received() const;

  const Stream::Side side_;
  const Settings settings_;
  Owner& owner_;
  ExchangeListener& listener_;
  std::unique_ptr<Stream> stream_;
  boost::asio::steady_timer tick_timer_, memory_timer_;
  State state_ = State::greeting;
  PeerId peer_{};
  wire::Hello peer_hello_;
  std::chrono::milliseconds tick_{};
  std::uint64_t ticks_ = 0;
  Clock::time_point started_ = Clock::now(), last_tick_ = started_;

  // Sending.
  std::shared_ptr<Traffic> traffic_;
  std::optional<Outbox> outbox_;
  wire::Header out_header_{};
  Pace pace_;
  Clock::time_point paced_{};  ///< when the link was looked at last
  bool writing_ = false;
  bool credit_due_ = false;
  Clock::time_point last_sign_{};  ///< of the peer's reading, or when there was nothing for it to read

  // Receiving.
  std::optional<Inbox> inbox_;
  wire::Header in_header_{};
  bool no_memory_ = false;         ///< reading waits for the listener
  std::uint64_t read_before_ = 0;  ///< the stream's count when the frame now being read began
  bool reading_body_ = false;
  std::uint64_t data_before_ = 0;  ///< bytes of whole parcel and chunk frames
  std::uint64_t reported_ = 0;     ///< of them, in the last credit
  Clock::time_point reading_since_{};
};

}  // namespace thalweg::net
