#include "runtime/net/connection.hpp"

#include <algorithm>

/// What an open connection does: frames in, frames out, credits against them, and an eye on progress.
namespace thalweg::net {
namespace {

/// A credit is worth a frame of its own after so many bytes; the clock brings the others.
constexpr std::uint64_t report_bytes = std::uint64_t{256} << 10;

constexpr std::chrono::milliseconds memory_again{1};
constexpr std::chrono::milliseconds pace_again{5};

}  // namespace

void Connection::send(Parcel parcel) {
  outbox_->push(std::move(parcel));
  write_next();
}

void Connection::write_next() {
  if (writing_ || state_ != State::open) return;
  if (credit_due_) {
    credit_due_ = false;
    reported_ = data_received();
    return write(wire::encode({settings_.self.node, settings_.self.incarnation, wire::Credit{reported_}}), {},
                 false);
  }
  const bool was_idle = outbox_->in_flight() == 0;
  const auto piece = outbox_->next();
  if (!piece) return;
  if (was_idle) last_sign_ = Clock::now();
  write(piece->header, piece->body, true);
}

void Connection::write(const wire::Header& header, std::span<const std::byte> body, bool piece) {
  writing_ = true;
  out_header_ = header;
  const std::size_t bytes = header.size() + body.size();
  stream_->write(out_header_, body,
                 [self = shared_from_this(), piece, bytes](const ErrorCodeOfSystem& error) {
                   self->writing_ = false;
                   // The parcels have been kept until here because the system was reading them.
                   if (self->state_ == State::ended) return self->outbox_.reset();
                   if (error)
                     return self->end(Ending::Cause::closed, "sending failed: " + error.message(), {});
                   if (self->traffic_) self->traffic_->bytes_sent += bytes;
                   if (piece) self->outbox_->written();
                   self->write_next();
                 });
}

void Connection::read_header() {
  read_before_ = stream_->received();
  reading_body_ = false;
  stream_->read(in_header_, [self = shared_from_this()](const ErrorCodeOfSystem& error) {
    if (self->state_ == State::ended) return;
    if (error) return self->end(Ending::Cause::closed, "it closed the connection: " + error.message(), {});
    const auto frame = wire::decode(self->in_header_, {self->settings_.payload_floats_max});
    if (!frame.ok()) {
      return self->end(Ending::Cause::corrupt, frame.error().text, wire::Farewell::corrupt);
    }
    self->traffic_->bytes_received += wire::header_bytes;
    self->take(*frame);
  });
}

void Connection::take(const wire::Frame& frame) {
  if (PeerId{frame.node, frame.incarnation} != peer_) {
    return end(Ending::Cause::corrupt, "a frame of another node", wire::Farewell::corrupt);
  }
  if (const auto* bye = std::get_if<wire::Bye>(&frame.content)) {
    return end(Ending::Cause::said_bye, "it said goodbye: " + wire::farewell_text(bye->why), {});
  }
  if (std::holds_alternative<wire::Hello>(frame.content)) {
    return end(Ending::Cause::corrupt, "a second hello", wire::Farewell::corrupt);
  }
  if (const auto* amount = std::get_if<wire::Credit>(&frame.content)) return credit(*amount);
  take_body(frame);
}

void Connection::credit(const wire::Credit& credit) {
  if (!outbox_->acknowledge(credit.received)) {
    return end(Ending::Cause::corrupt, "a credit for what was not sent", wire::Farewell::corrupt);
  }
  last_sign_ = Clock::now();
  if (last_sign_ - paced_ >= pace_again) keep_pace(last_sign_);
  write_next();
  if (state_ == State::open) read_header();
}

void Connection::keep_pace(Clock::time_point now) {
  paced_ = now;
  const int socket = stream_->socket().native_handle();
  const auto sample = sample_link(socket);
  if (!sample) return;
  const Pace::Setting before = pace_.setting();
  const Pace::Setting setting = pace_.update(*sample, now);
  outbox_->set_window(setting.window);
  if (setting.bytes_per_s != before.bytes_per_s) pace_link(socket, setting.bytes_per_s);
}

void Connection::take_body(const wire::Frame& frame) {
  const auto body = inbox_->begin(frame);
  if (!body.ok()) return end(Ending::Cause::corrupt, body.error().text, wire::Farewell::corrupt);
  reading_body_ = true;
  const std::size_t bytes = body->size();
  if (bytes == 0) return body_arrived(bytes);
  stream_->read(*body, [self = shared_from_this(), bytes](const ErrorCodeOfSystem& error) {
    if (self->state_ == State::ended) return;
    if (error) return self->end(Ending::Cause::closed, "it closed the connection: " + error.message(), {});
    self->body_arrived(bytes);
  });
}

void Connection::body_arrived(std::size_t bytes) {
  reading_body_ = false;
  data_before_ += wire::header_bytes + bytes;
  traffic_->bytes_received += bytes;
  if (const Status done = inbox_->finish(); !done) {
    return end(Ending::Cause::corrupt, done.error().text, wire::Farewell::corrupt);
  }
  if (data_before_ - reported_ >= report_bytes) report_progress();
  if (state_ == State::open) land();
}

void Connection::land() {
  no_memory_ = !inbox_->ready();
  if (no_memory_) {
    memory_timer_.expires_after(memory_again);
    memory_timer_.async_wait([self = shared_from_this()](const ErrorCodeOfSystem& error) {
      if (error || self->state_ != State::open) return;
      self->last_sign_ = self->reading_since_ = Clock::now();
      self->land();
    });
    return;
  }
  if (inbox_->whole()) listener_.arrived(peer_, inbox_->release());
  read_header();
}

std::uint64_t Connection::data_received() const {
  return data_before_ + (reading_body_ ? stream_->received() - read_before_ : 0);
}

void Connection::report_progress() {
  credit_due_ = true;
  write_next();
}

void Connection::check_progress(Clock::time_point now) {
  const auto limit = settings_.silence;
  // While reading waits for memory, the peer's credits wait behind its data, and silence is ours.
  if (!no_memory_) {
    // A credit may be long in coming behind data of the peer's own; that data says as well that it lives.
    if (outbox_->in_flight() > 0 && now - std::max(last_sign_, stream_->last_received()) > limit) {
      return end(Ending::Cause::silent, "it has read nothing for " + silence_text(), wire::Farewell::silent);
    }
    const bool amid = inbox_->under_way() || stream_->received() != read_before_;
    if (amid && now - std::max(stream_->last_received(), reading_since_) > limit) {
      return end(Ending::Cause::silent, "it stopped amid a transfer for " + silence_text(),
                 wire::Farewell::silent);
    }
  }
  if (ticks_ % 2 == 0 && (data_received() != reported_ || inbox_->under_way())) report_progress();
}

}  // namespace thalweg::net
