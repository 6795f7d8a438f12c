#pragma once

#include "runtime/net/credentials.hpp"
#include "runtime/net/exchange.hpp"

#include <array>
#include <chrono>
#include <memory>
#include <optional>

/// The data plane over TCP: one connection to each peer, plain or inside TLS, all of them on one thread.
/// Bytes go from the sender's payload to the memory that the receiver's listener gave, with no copy but the
/// system's own. runtime/wire/FORMAT.md says what is on the wire, README.md why it is paced as it is.
namespace thalweg::net {

class AsioExchange final : public Exchange {
 public:
  struct Options {
    Endpoint listen;  ///< port 0: any free one, see local()
    std::optional<Credentials> tls = {};
    std::array<std::byte, 16> run{};
    PeerId self;
    std::chrono::milliseconds silence{
        2000};  ///< a transfer, or a greeting, without progress for so long is over
    std::size_t chunk_bytes = std::size_t{1} << 20;  ///< at most 1 MiB
    std::size_t payload_floats_max = 0;  ///< larger ones are refused before there is memory for them
    bool checksums = true;               ///< of bodies; inside TLS there are none
    std::size_t strangers_max = 64;      ///< connections that have not said who they are
    ExchangeListener& listener;          ///< outlives the exchange
  };

  /// What was turned away, and why.
  struct Counts {
    std::uint64_t handshake = 0;  ///< TLS was not agreed on: no certificate, or one of a stranger
    std::uint64_t wrong_run = 0, wrong_peer = 0, fenced = 0, duplicate = 0;
    std::uint64_t silent = 0;           ///< no hello in time, or no progress
    std::uint64_t corrupt = 0;          ///< no frames, or damaged ones
    std::uint64_t crowded = 0;          ///< strangers that made room for newer ones
    std::uint64_t parcels_dropped = 0;  ///< sent without a connection, or lost with one
  };

  /// Listens, and starts the thread. Fails: `invalid` or `io`, when the address cannot be had; as
  /// tls_context() for credentials.
  static Result<std::unique_ptr<Exchange>> open(Options options);

  /// Closes every connection. Once it returns the listener is not called any more. Requires: not on the
  /// exchange's own thread.
  ~AsioExchange() override;

  [[nodiscard]] Endpoint local() const override;
  void connect(PeerId peer, std::vector<Endpoint> at) override;
  void send(PeerId to, Parcel parcel) override;
  void fence(PeerId peer) override;
  [[nodiscard]] Gauges gauges(PeerId peer) const override;
  [[nodiscard]] Counts counts() const;

 private:
  class State;
  explicit AsioExchange(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace thalweg::net
