#pragma once

#include "actors/codec.hpp"
#include "actors/directory.hpp"
#include "gpu/buffer.hpp"
#include "runtime/net/exchange.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

/// Takes what comes over the data plane: gives vectors a place to land, and delivers whole messages straight
/// into the mailboxes of this node. Before it the exchange, on whose thread it runs; after it the actors,
/// which give the memory back by letting go of the payload.
namespace thalweg::actors {

class ParcelReceiver final : public net::ExchangeListener {
 public:
  struct Options {
    Directory* directory = nullptr;    ///< outlives the exchange, as this does
    Neighbours* neighbours = nullptr;  ///< likewise
    std::vector<std::size_t> sizes;    ///< in floats, that the run uses: the model's
    std::size_t buffers_max = 8;       ///< of each size, that are under way or held by an actor
    /// All on the exchange's thread; must not block.
    std::function<void(net::PeerId)> opened = {};
    std::function<void(net::PeerId, const std::string& why)> lost = {};
    /// A message could not be read.
    std::function<void(net::PeerId, const Error&)> complaint = {};
    /// It sends a vector of a size that this run does not have, for which no memory is ever given: to be
    /// fenced. Once for each peer.
    std::function<void(net::PeerId, std::size_t floats)> wrong_size = {};
  };

  /// Requires: what Options says.
  explicit ParcelReceiver(Options options) : options_(std::move(options)) {}

  net::Landing land(net::PeerId from, std::size_t floats) override;
  void arrived(net::PeerId from, net::Parcel parcel) override;
  void opened(net::PeerId peer) override;
  void lost(net::PeerId peer, const std::string& why) override;

  /// Of the buffers of this size. Any thread.
  [[nodiscard]] gpu::PoolCounters counters(std::size_t floats) const;

 private:
  const Options options_;
  mutable std::mutex mutex_;
  std::map<std::size_t, std::shared_ptr<gpu::BufferPool>> pools_;  ///< by size, made when first used
  std::set<net::PeerId> refused_;                                  ///< that sent a vector of another size
};

}  // namespace thalweg::actors
