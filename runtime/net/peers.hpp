#pragma once

#include "runtime/net/asio_exchange.hpp"
#include "runtime/net/connection.hpp"
#include "runtime/net/dial.hpp"

#include <list>
#include <map>
#include <mutex>

/// Who talks to this node: strangers that have not said who they are, peers that are being dialled, and at
/// most one open connection for each peer. Decides which of two connections stays. On the exchange's thread,
/// but for what says otherwise.
namespace thalweg::net {

class Peers final : public Connection::Owner {
 public:
  struct Options {
    Connection::Settings connection;
    std::size_t strangers_max = 64;
    boost::asio::ssl::context* tls = nullptr;  ///< null: plain
  };

  Peers(boost::asio::io_context& loop, const Options& options, ExchangeListener& listener)
      : loop_(loop), options_(options), listener_(listener) {}

  void accept(boost::asio::ip::tcp::socket socket);
  void connect(PeerId peer, std::vector<Endpoint> at);
  void send(PeerId to, Parcel parcel);
  void fence(PeerId peer);
  /// Ends everything; the listener is not called any more.
  void close();

  [[nodiscard]] std::shared_ptr<Traffic> traffic(PeerId peer) override;  ///< any thread
  [[nodiscard]] std::shared_ptr<const Traffic> known_traffic(
      PeerId peer) const;                             ///< any thread; null: none yet
  [[nodiscard]] AsioExchange::Counts counts() const;  ///< any thread

  void asked(const std::shared_ptr<Connection>& connection) override;
  void stands(const std::shared_ptr<Connection>& connection) override;
  void ended(const std::shared_ptr<Connection>& connection, const Ending& ending) override;

 private:
  /// A peer in one of its lives.
  struct Entry {
    bool fenced = false;
    std::uint32_t connections = 0;           ///< that stood so far
    std::shared_ptr<Connection> connection;  ///< the open one
    std::shared_ptr<Dial> dial;              ///< ours, under way
    std::shared_ptr<Connection> parked;      ///< the peer's, waiting for what becomes of ours
  };

  [[nodiscard]] std::shared_ptr<Connection> make(Stream::Side side, boost::asio::ip::tcp::socket socket);
  [[nodiscard]] bool ours_goes_before(PeerId peer) const { return options_.connection.self.node < peer.node; }
  void admit(Entry& entry, const std::shared_ptr<Connection>& connection);
  void turn_away(const std::shared_ptr<Connection>& connection, wire::Farewell why);
  void dial_failed(PeerId peer, const std::string& why);
  void lose(Entry& entry, PeerId peer, const std::string& why);
  void count(Ending::Cause cause);

  boost::asio::io_context& loop_;
  const Options options_;
  ExchangeListener& listener_;
  std::list<std::shared_ptr<Connection>> strangers_;  ///< oldest first
  std::map<PeerId, Entry> entries_;
  bool closed_ = false;

  mutable std::mutex mutex_;  ///< of what follows
  std::map<PeerId, std::shared_ptr<Traffic>> traffic_;
  AsioExchange::Counts counts_;
};

}  // namespace thalweg::net
