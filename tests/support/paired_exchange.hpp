#pragma once

#include "runtime/net/exchange.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace thalweg::testing {

/// The data plane between nodes of one test: a parcel is at the other node before `send` returns, its vectors
/// copied into the other's landing memory. Without memory there it is dropped, and counted.
class PairedExchange final : public net::Exchange {
 public:
  /// Requires: `listener` outlives this.
  PairedExchange(net::PeerId self, net::ExchangeListener& listener) : self_(self), listener_(listener) {}

  /// Requires: `other` outlives this.
  void join(PairedExchange& other) { others_[other.self_] = &other; }
  [[nodiscard]] std::uint64_t without_memory() const { return without_memory_; }
  [[nodiscard]] std::uint64_t sent() const { return sent_; }

  [[nodiscard]] net::Endpoint local() const override { return {}; }
  void connect(net::PeerId peer, std::vector<net::Endpoint> /*at*/) override { listener_.opened(peer); }
  void send(net::PeerId to, net::Parcel parcel) override {
    const auto other = others_.find(to);
    if (other == others_.end()) return;
    ++sent_;
    for (auto& payload : parcel.payloads) {
      if (!payload) continue;
      auto landing = other->second->listener_.land(self_, payload->size());
      if (!landing.vector) {
        ++without_memory_;
        return;
      }
      std::copy(payload->host().begin(), payload->host().end(), landing.values.begin());
      payload = std::move(landing.vector);
    }
    other->second->listener_.arrived(self_, std::move(parcel));
  }
  void fence(net::PeerId peer) override { others_.erase(peer); }
  [[nodiscard]] Gauges gauges(net::PeerId /*peer*/) const override { return {}; }

 private:
  net::PeerId self_;
  net::ExchangeListener& listener_;
  std::map<net::PeerId, PairedExchange*> others_;
  std::uint64_t without_memory_ = 0;
  std::uint64_t sent_ = 0;
};

}  // namespace thalweg::testing
