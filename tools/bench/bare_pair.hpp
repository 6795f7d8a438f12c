#pragma once

#include "runtime/net/credentials.hpp"

#include <thalweg/result.hpp>

#include <memory>
#include <optional>
#include <span>

/// Two ends of a TCP connection on loopback and nothing else: what the data plane is measured against. A
/// thread each; one writes chunks from where they lie, the other reads them to where they belong, and both
/// work out the checksums if there are any.
namespace thalweg::bench {

/// The sum of `values`, in single precision over sixteen lanes: what a receiver does with a payload.
float sum_of(std::span<const float> values);

class BarePair {
 public:
  struct Options {
    std::size_t chunk_bytes = std::size_t{1} << 20;
    bool checksums = true;
    std::optional<net::Credentials> tls = {};  ///< of both ends
  };

  /// Fails: `io`, when there is no loopback; as credentials do.
  static Result<std::unique_ptr<BarePair>> open(const Options& options);
  ~BarePair();

  /// Moves `values` to `landing` and sums them there; returns when that is done. Requires: equal sizes.
  Result<float> carry(std::span<const float> values, std::span<float> landing);

 private:
  struct State;
  explicit BarePair(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace thalweg::bench
