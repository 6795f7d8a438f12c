#pragma once

#include "runtime/net/exchange.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace thalweg {

/// Floats in plain memory.
class PlainVector final : public FlatVector {
 public:
  explicit PlainVector(std::vector<float> values) : values_(std::move(values)) {}
  [[nodiscard]] std::size_t size() const override { return values_.size(); }
  [[nodiscard]] std::span<const float> host() const override { return values_; }
  [[nodiscard]] std::span<float> values() { return values_; }

 private:
  std::vector<float> values_;
};

/// Floats that count up from `first`.
inline Payload counting_payload(std::size_t floats, float first = 0) {
  std::vector<float> values(floats);
  for (std::size_t i = 0; i < floats; ++i) values[i] = first + static_cast<float>(i % 1'000'003);
  return std::make_shared<PlainVector>(std::move(values));
}

/// Writes down what an exchange tells it, for a test to wait for and look at. Any thread.
class RecordingListener : public net::ExchangeListener {
 public:
  net::Landing land(net::PeerId, std::size_t floats) override {
    const std::lock_guard lock(mutex_);
    ++landings_asked_;
    changed_.notify_all();
    if (no_memory_) return {};
    auto vector = std::make_shared<PlainVector>(std::vector<float>(floats));
    return {vector, vector->values()};
  }
  void arrived(net::PeerId from, net::Parcel parcel) override {
    note([&] { arrived_.emplace_back(from, std::move(parcel)); });
  }
  void opened(net::PeerId peer) override {
    note([&] { opened_.push_back(peer); });
  }
  void lost(net::PeerId peer, const std::string& why) override {
    note([&] { lost_.emplace_back(peer, why); });
  }

  /// While on, there is no memory for payloads.
  void no_memory(bool on) {
    note([&] { no_memory_ = on; });
  }

  /// Waits until `holds` does, looking after every call. False: it did not within 10 seconds.
  template <class Condition>
  [[nodiscard]] bool wait(Condition holds) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return holds(*this); });
  }
  [[nodiscard]] bool wait_arrived(std::size_t count) {
    return wait([count](const auto& it) { return it.arrived_.size() >= count; });
  }
  [[nodiscard]] bool wait_opened(std::size_t count = 1) {
    return wait([count](const auto& it) { return it.opened_.size() >= count; });
  }
  [[nodiscard]] bool wait_lost(std::size_t count = 1) {
    return wait([count](const auto& it) { return it.lost_.size() >= count; });
  }

  /// Whether no peer was lost; for the message of a test, who was, and why.
  [[nodiscard]] testing::AssertionResult lost_none() {
    const std::lock_guard lock(mutex_);
    if (lost_.empty()) return testing::AssertionSuccess();
    auto result = testing::AssertionFailure();
    for (const auto& [peer, why] : lost_) result << "lost node " << peer.node.value << ": " << why << "; ";
    return result;
  }

  // To be looked at inside wait(), or when nothing more is told.
  std::vector<std::pair<net::PeerId, net::Parcel>> arrived_;
  std::vector<net::PeerId> opened_;
  std::vector<std::pair<net::PeerId, std::string>> lost_;
  std::size_t landings_asked_ = 0;

 private:
  template <class Note>
  void note(Note take) {
    const std::lock_guard lock(mutex_);
    take();
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool no_memory_ = false;
};

}  // namespace thalweg
