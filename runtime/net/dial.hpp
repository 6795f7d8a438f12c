#pragma once

#include "runtime/net/connection.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

/// The search for an address at which a peer answers: every endpoint, every address of its name, one after
/// the other, each with a deadline. On the exchange's thread.
namespace thalweg::net {

class Dial : public std::enable_shared_from_this<Dial> {
 public:
  struct Options {
    PeerId peer;
    std::vector<Endpoint> at;
    std::chrono::milliseconds limit{2000};  ///< for a name, and for an address to take the connection
  };
  /// Of the two exactly one is the last; neither is called after cancel().
  struct Events {
    /// An address took the connection, which may yet prove to be the wrong one: the answer is what greets it.
    std::function<std::shared_ptr<Connection>(boost::asio::ip::tcp::socket)> connected;
    /// None is left; why each one failed.
    std::function<void(const std::string& why)> failed;
  };

  Dial(boost::asio::io_context& loop, Options options, Events events);

  void start();
  /// The connection that was made came to nothing: on to the next address.
  void go_on(const std::string& why);
  /// Gives up, and closes the connection that is being greeted.
  void cancel();

  /// An address has taken the connection, and the peer is being greeted.
  [[nodiscard]] const std::shared_ptr<Connection>& greeting() const { return greeting_; }
  /// The peer has answered: the connection is no longer this one's.
  void done() { greeting_.reset(); }

 private:
  void next();
  void resolve(const Endpoint& endpoint);
  void connect(const boost::asio::ip::tcp::endpoint& address);
  void note(const std::string& address, const std::string& why);

  boost::asio::io_context& loop_;
  const Options options_;
  Events events_;
  boost::asio::ip::tcp::resolver resolver_;
  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer timer_;
  std::deque<Endpoint> endpoints_;
  std::deque<boost::asio::ip::tcp::endpoint> addresses_;
  std::string address_;  ///< that is being tried
  std::string failures_;
  std::shared_ptr<Connection> greeting_;
  std::uint64_t attempt_ = 0;  ///< tells late answers from those that are waited for
  bool cancelled_ = false;
};

}  // namespace thalweg::net
