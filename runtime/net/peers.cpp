#include "runtime/net/peers.hpp"

#include <algorithm>

namespace thalweg::net {

using Farewell = wire::Farewell;

std::shared_ptr<Connection> Peers::make(Stream::Side side, boost::asio::ip::tcp::socket socket) {
  return std::make_shared<Connection>(side, std::make_unique<Stream>(std::move(socket), options_.tls),
                                      options_.connection, *this, listener_);
}

void Peers::accept(boost::asio::ip::tcp::socket socket) {
  if (strangers_.size() >= options_.strangers_max) {
    strangers_.front()->close(Farewell::closing);
    strangers_.pop_front();
    const std::lock_guard lock(mutex_);
    ++counts_.crowded;
  }
  strangers_.push_back(make(Stream::Side::accepted, std::move(socket)));
  strangers_.back()->accept();
}

void Peers::connect(PeerId peer, std::vector<Endpoint> at) {
  Entry& entry = entries_[peer];
  if (closed_ || entry.connection || entry.dial) return;
  if (entry.fenced) return listener_.lost(peer, "fenced");
  entry.dial = std::make_shared<Dial>(
      loop_, Dial::Options{peer, std::move(at), options_.connection.silence},
      Dial::Events{.connected =
                       [this, peer](boost::asio::ip::tcp::socket socket) {
                         auto connection = make(Stream::Side::dialled, std::move(socket));
                         connection->dial(peer, entries_[peer].connections);
                         return connection;
                       },
                   .failed = [this, peer](const std::string& why) { dial_failed(peer, why); }});
  const auto dial = entry.dial;
  dial->start();
}

void Peers::dial_failed(PeerId peer, const std::string& why) {
  Entry& entry = entries_[peer];
  entry.dial.reset();
  if (const auto parked = std::exchange(entry.parked, nullptr)) return admit(entry, parked);
  listener_.lost(peer, why);
}

void Peers::send(PeerId to, Parcel parcel) {
  const auto found = entries_.find(to);
  if (found != entries_.end() && found->second.connection) {
    return found->second.connection->send(std::move(parcel));
  }
  const auto waiting = traffic(to);
  --waiting->parcels_waiting;
  waiting->bytes_waiting -= payload_bytes(parcel);
  ++waiting->parcels_dropped;
}

void Peers::fence(PeerId peer) {
  Entry& entry = entries_[peer];
  entry.fenced = true;
  if (const auto parked = std::exchange(entry.parked, nullptr)) turn_away(parked, Farewell::fenced);
  if (const auto dial = std::exchange(entry.dial, nullptr)) {
    dial->cancel();
    listener_.lost(peer, "fenced");
  }
  if (!entry.connection) return;
  entry.connection->close(Farewell::fenced);
  lose(entry, peer, "fenced");
}

void Peers::close() {
  closed_ = true;
  for (const auto& stranger : std::exchange(strangers_, {})) stranger->close(Farewell::closing);
  for (auto& [peer, entry] : entries_) {
    if (const auto dial = std::exchange(entry.dial, nullptr)) dial->cancel();
    if (const auto parked = std::exchange(entry.parked, nullptr)) parked->close(Farewell::closing);
    if (const auto open = std::exchange(entry.connection, nullptr)) open->close(Farewell::closing);
  }
}

void Peers::asked(const std::shared_ptr<Connection>& connection) {
  strangers_.remove(connection);
  const PeerId peer = connection->peer();
  Entry& entry = entries_[peer];
  if (entry.fenced) return turn_away(connection, Farewell::fenced);
  if (entry.connection) {
    // Both dialled, and the peer's hello was said before it knew of ours, which stands: ours stays.
    const bool stale = entry.connection->side() == Stream::Side::dialled &&
                       connection->peer_connections() < entry.connection->peer_connections();
    if (stale) return turn_away(connection, Farewell::duplicate);
    // Otherwise it knows, or must know by now, that the one here is dead.
    entry.connection->close(Farewell::duplicate);
    lose(entry, peer, "it opened another connection");
  }
  if (entry.dial && entry.dial->greeting() && ours_goes_before(peer)) {
    if (entry.parked) turn_away(entry.parked, Farewell::duplicate);
    entry.parked = connection;
    return;
  }
  admit(entry, connection);
}

void Peers::admit(Entry& entry, const std::shared_ptr<Connection>& connection) {
  if (const auto dial = std::exchange(entry.dial, nullptr)) dial->cancel();
  entry.connection = connection;
  connection->answer(++entry.connections);
  if (!closed_) listener_.opened(connection->peer());
}

void Peers::turn_away(const std::shared_ptr<Connection>& connection, Farewell why) {
  count(why == Farewell::fenced ? Ending::Cause::fenced : Ending::Cause::duplicate);
  connection->close(why);
}

void Peers::stands(const std::shared_ptr<Connection>& connection) {
  const PeerId peer = connection->peer();
  Entry& entry = entries_[peer];
  if (entry.dial) std::exchange(entry.dial, nullptr)->done();
  if (const auto parked = std::exchange(entry.parked, nullptr)) turn_away(parked, Farewell::duplicate);
  entry.connection = connection;
  ++entry.connections;
  listener_.opened(peer);
}

void Peers::ended(const std::shared_ptr<Connection>& connection, const Ending& ending) {
  count(ending.cause);
  if (std::erase(strangers_, connection) > 0) return;
  const auto found = entries_.find(connection->peer());
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  if (entry.parked == connection) {
    entry.parked.reset();
  } else if (entry.dial && entry.dial->greeting() == connection) {
    const auto dial = entry.dial;
    dial->go_on(ending.why);
  } else if (entry.connection == connection) {
    lose(entry, connection->peer(), connection->remote() + ": " + ending.why);
  }
}

void Peers::lose(Entry& entry, PeerId peer, const std::string& why) {
  entry.connection.reset();
  if (!closed_) listener_.lost(peer, why);
}

void Peers::count(Ending::Cause cause) {
  using Cause = Ending::Cause;
  const std::lock_guard lock(mutex_);
  switch (cause) {
    case Cause::closed:
    case Cause::said_bye:
      return;
    case Cause::handshake:
      ++counts_.handshake;
      return;
    case Cause::wrong_run:
      ++counts_.wrong_run;
      return;
    case Cause::wrong_peer:
      ++counts_.wrong_peer;
      return;
    case Cause::fenced:
      ++counts_.fenced;
      return;
    case Cause::duplicate:
      ++counts_.duplicate;
      return;
    case Cause::silent:
      ++counts_.silent;
      return;
    case Cause::corrupt:
      ++counts_.corrupt;
      return;
  }
}

std::shared_ptr<Traffic> Peers::traffic(PeerId peer) {
  const std::lock_guard lock(mutex_);
  auto& traffic = traffic_[peer];
  if (!traffic) traffic = std::make_shared<Traffic>();
  return traffic;
}

std::shared_ptr<const Traffic> Peers::known_traffic(PeerId peer) const {
  const std::lock_guard lock(mutex_);
  const auto found = traffic_.find(peer);
  return found == traffic_.end() ? nullptr : found->second;
}

AsioExchange::Counts Peers::counts() const {
  const std::lock_guard lock(mutex_);
  AsioExchange::Counts counts = counts_;
  for (const auto& [peer, traffic] : traffic_) counts.parcels_dropped += traffic->parcels_dropped;
  return counts;
}

}  // namespace thalweg::net
