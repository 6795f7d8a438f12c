#include "runtime/net/connection.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace thalweg::net {
namespace {

using Cause = Ending::Cause;

std::string peer_text(PeerId peer) {
  return fmt::format("node {}, incarnation {}", peer.node.value, peer.incarnation.value);
}

}  // namespace

Connection::Connection(Stream::Side side, std::unique_ptr<Stream> stream, const Settings& settings,
                       Owner& owner, ExchangeListener& listener)
    : side_(side),
      settings_(settings),
      owner_(owner),
      listener_(listener),
      stream_(std::move(stream)),
      tick_timer_(stream_->socket().get_executor()),
      memory_timer_(stream_->socket().get_executor()),
      tick_(std::max(settings.silence / 8, std::chrono::milliseconds(1))) {}

void Connection::dial(PeerId peer, std::uint32_t connections) {
  peer_ = peer;
  start_ticking();
  stream_->handshake(side_, [self = shared_from_this(), connections](const ErrorCodeOfSystem& error) {
    if (self->state_ == State::ended) return;
    if (error) return self->end(Cause::handshake, "TLS: " + error.message(), {});
    self->write_hello(connections);
    self->read_hello();
  });
}

void Connection::accept() {
  start_ticking();
  stream_->handshake(side_, [self = shared_from_this()](const ErrorCodeOfSystem& error) {
    if (self->state_ == State::ended) return;
    if (error) return self->end(Cause::handshake, "TLS: " + error.message(), {});
    self->read_hello();
  });
}

void Connection::answer(std::uint32_t connections) {
  begin();
  write_hello(connections);
  read_header();
}

void Connection::close(wire::Farewell farewell) {
  if (state_ == State::ended) return;
  finish(state_ == State::greeting ? std::nullopt : std::optional(farewell));
}

void Connection::write_hello(std::uint32_t connections) {
  const wire::Hello hello{.run = settings_.run,
                          .to_node = peer_.node,
                          .to_incarnation = peer_.incarnation,
                          .features = settings_.checksums ? wire::feature_checksums : 0,
                          .silence_ms = static_cast<std::uint32_t>(settings_.silence.count()),
                          .connections = connections};
  write(wire::encode({settings_.self.node, settings_.self.incarnation, hello}), {}, false);
}

void Connection::read_hello() {
  stream_->read(in_header_, [self = shared_from_this()](const ErrorCodeOfSystem& error) {
    if (self->state_ == State::ended) return;
    if (error) return self->end(Cause::closed, "it closed the connection: " + error.message(), {});
    const auto frame = wire::decode(self->in_header_, {self->settings_.payload_floats_max});
    // A stranger is not talked to: it has not shown that it knows the format.
    if (!frame.ok()) return self->end(Cause::corrupt, frame.error().text, {});
    self->greeted(*frame);
  });
}

void Connection::greeted(const wire::Frame& frame) {
  if (const auto* bye = std::get_if<wire::Bye>(&frame.content)) {
    return end(Cause::said_bye, "it said no: " + wire::farewell_text(bye->why), {});
  }
  const auto* hello = std::get_if<wire::Hello>(&frame.content);
  if (hello == nullptr) return end(Cause::corrupt, "it did not begin with a hello", {});
  const PeerId speaker{frame.node, frame.incarnation};
  if (hello->run != settings_.run) {
    return end(Cause::wrong_run, "it belongs to another run", wire::Farewell::wrong_run);
  }
  if (side_ == Stream::Side::dialled && speaker != peer_) {
    return end(Cause::wrong_peer, fmt::format("it is {}", peer_text(speaker)), wire::Farewell::wrong_peer);
  }
  if (PeerId{hello->to_node, hello->to_incarnation} != settings_.self) {
    return end(Cause::wrong_peer, "it wants to talk to another node, or another incarnation of this one",
               wire::Farewell::wrong_peer);
  }
  peer_ = speaker;
  peer_hello_ = *hello;
  if (side_ == Stream::Side::accepted) {
    state_ = State::asked;
    return owner_.asked(shared_from_this());
  }
  begin();
  owner_.stands(shared_from_this());
  if (state_ == State::open) read_header();
}

void Connection::begin() {
  state_ = State::open;
  const bool checksums = settings_.checksums || (peer_hello_.features & wire::feature_checksums) != 0;
  traffic_ = owner_.traffic(peer_);
  outbox_.emplace(
      Outbox::Options{.self = settings_.self, .checksums = checksums, .chunk_bytes = settings_.chunk_bytes},
      traffic_);
  inbox_.emplace(Inbox::Options{peer_, checksums}, listener_);
  const auto silence = std::min(settings_.silence, std::chrono::milliseconds(peer_hello_.silence_ms));
  tick_ = std::max(silence / 8, std::chrono::milliseconds(1));
  last_sign_ = reading_since_ = Clock::now();
}

std::string Connection::silence_text() const { return fmt::format("{} ms", settings_.silence.count()); }

void Connection::end(Cause cause, std::string why, std::optional<wire::Farewell> farewell) {
  if (state_ == State::ended) return;
  const auto self = shared_from_this();
  finish(farewell);
  owner_.ended(self, {cause, std::move(why)});
}

void Connection::finish(std::optional<wire::Farewell> farewell) {
  state_ = State::ended;
  tick_timer_.cancel();
  memory_timer_.cancel();
  if (!writing_) outbox_.reset();
  // A frame under way cannot be interrupted, and a peer that does not read it would not read a bye either.
  if (!farewell || writing_) return stream_->close();
  out_header_ = wire::encode({settings_.self.node, settings_.self.incarnation, wire::Bye{*farewell}});
  const auto close = [self = shared_from_this()](const ErrorCodeOfSystem&) {
    self->tick_timer_.cancel();
    self->stream_->close();
  };
  stream_->write(out_header_, {}, close);
  tick_timer_.expires_after(std::min(settings_.silence, std::chrono::milliseconds(200)));
  tick_timer_.async_wait(close);
}

void Connection::start_ticking() {
  tick_timer_.expires_after(tick_);
  tick_timer_.async_wait([self = shared_from_this()](const ErrorCodeOfSystem& error) {
    if (error || self->state_ == State::ended) return;
    self->tick();
    if (self->state_ != State::ended) self->start_ticking();
  });
}

void Connection::tick() {
  const auto now = Clock::now();
  // Who has slept himself accuses nobody: whatever came meanwhile is still in the socket.
  if (now - last_tick_ > tick_ + settings_.silence / 4) {
    started_ += now - last_tick_;
    last_sign_ = reading_since_ = now;
  }
  last_tick_ = now;
  ++ticks_;
  if (state_ == State::greeting && now - started_ > settings_.silence) {
    return end(Cause::silent, "no hello within " + silence_text(), {});
  }
  if (state_ == State::open) check_progress(now);
}

}  // namespace thalweg::net
