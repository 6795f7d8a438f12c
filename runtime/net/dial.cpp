#include "runtime/net/dial.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

namespace thalweg::net {
namespace {

using tcp = boost::asio::ip::tcp;

std::string text_of(const tcp::endpoint& address) {
  return Endpoint{address.address().to_string(), address.port()}.text();
}

}  // namespace

Dial::Dial(boost::asio::io_context& loop, Options options, Events events)
    : loop_(loop),
      options_(std::move(options)),
      events_(std::move(events)),
      resolver_(loop),
      socket_(loop),
      timer_(loop),
      endpoints_(options_.at.begin(), options_.at.end()) {}

void Dial::start() { next(); }

void Dial::go_on(const std::string& why) {
  greeting_.reset();
  note(address_, why);
  next();
}

void Dial::cancel() {
  cancelled_ = true;
  resolver_.cancel();
  timer_.cancel();
  ErrorCodeOfSystem ignored;
  socket_.close(ignored);
  if (greeting_) greeting_->close(wire::Farewell::duplicate);
  greeting_.reset();
}

void Dial::note(const std::string& address, const std::string& why) {
  failures_ += fmt::format("{}{}: {}", failures_.empty() ? "" : "; ", address, why);
}

void Dial::next() {
  if (cancelled_) return;
  ++attempt_;
  timer_.cancel();
  if (!addresses_.empty()) {
    const auto address = addresses_.front();
    addresses_.pop_front();
    return connect(address);
  }
  if (!endpoints_.empty()) {
    const Endpoint endpoint = endpoints_.front();
    endpoints_.pop_front();
    return resolve(endpoint);
  }
  events_.failed(failures_.empty() ? "no address is known" : failures_);
}

void Dial::resolve(const Endpoint& endpoint) {
  ErrorCodeOfSystem error;
  const auto number = boost::asio::ip::make_address(endpoint.host, error);
  if (!error) return connect({number, endpoint.port});

  const auto attempt = attempt_;
  timer_.expires_after(options_.limit);
  timer_.async_wait([self = shared_from_this(), attempt, endpoint](const ErrorCodeOfSystem& stopped) {
    if (stopped || attempt != self->attempt_) return;
    self->note(endpoint.text(),
               fmt::format("the name was not resolved within {} ms", self->options_.limit.count()));
    self->next();
  });
  resolver_.async_resolve(
      endpoint.host, std::to_string(endpoint.port), tcp::resolver::numeric_service,
      [self = shared_from_this(), attempt, endpoint](const ErrorCodeOfSystem& failed, const auto& results) {
        if (attempt != self->attempt_ || self->cancelled_) return;
        if (failed) self->note(endpoint.text(), failed.message());
        for (const auto& result : results) self->addresses_.push_back(result.endpoint());
        self->next();
      });
}

void Dial::connect(const tcp::endpoint& address) {
  const auto attempt = attempt_;
  address_ = text_of(address);
  socket_ = tcp::socket(loop_);
  timer_.expires_after(options_.limit);
  timer_.async_wait([self = shared_from_this(), attempt](const ErrorCodeOfSystem& stopped) {
    if (stopped || attempt != self->attempt_) return;
    self->note(self->address_, fmt::format("no answer within {} ms", self->options_.limit.count()));
    ErrorCodeOfSystem ignored;
    self->socket_.close(ignored);
    self->next();
  });
  socket_.async_connect(address, [self = shared_from_this(), attempt](const ErrorCodeOfSystem& failed) {
    if (attempt != self->attempt_ || self->cancelled_) return;
    self->timer_.cancel();
    ++self->attempt_;
    if (!failed) {
      self->greeting_ = self->events_.connected(std::move(self->socket_));
      return;
    }
    self->note(self->address_, failed.message());
    self->next();
  });
}

}  // namespace thalweg::net
