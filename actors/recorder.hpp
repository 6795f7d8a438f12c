#pragma once

#include "actors/node_context.hpp"
#include "actors/wait_board.hpp"
#include "runtime/journal/journal.hpp"

#include <thalweg/config.hpp>
#include <thalweg/result.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

/// The recorder: one per node, writes what its actors do into the node's message log. Before it `observed`,
/// by way of the wait board; after it runtime/journal, which has a thread of its own. Calls come on the
/// actors' threads and do not block.
namespace thalweg::actors {

class Recorder final : public MessageSink {
 public:
  struct Options {
    std::filesystem::path folder;
    std::string name;  ///< of the node: "root", "node-1"
    std::string run;
    NodeNumber node;
    Incarnation incarnation;
    std::uint32_t term = 1;
  };

  /// Begins a log, or goes on with one. Null: `log.level` is off. Fails: as journal::Journal::open.
  static Result<std::unique_ptr<Recorder>> open(const Config& config, const Clock& clock,
                                                const Options& options);
  ~Recorder() override;

  /// The node's sink, before this: for the node's context, and for whoever asks who waits.
  [[nodiscard]] WaitBoard& board() { return board_; }

  void handles(const Handles& record) noexcept override;
  void handled(const Handled& record) noexcept override;
  void decided(const Decided& record) noexcept override;
  void waited(const Waited& record) noexcept override;

 private:
  Recorder(const Clock& clock, std::uint32_t term) : clock_(clock), term_(term), board_(clock, this) {}

  void learn(ActorNumber actor, std::string_view name);
  void tell_long_waits();
  [[nodiscard]] journal::Record record_at(std::chrono::nanoseconds at) const;

  const Clock& clock_;
  const std::uint32_t term_;
  WaitBoard board_;
  std::array<std::atomic<bool>, 4096> known_{};                 ///< actors whose names are written
  std::map<ActorNumber, std::chrono::nanoseconds> told_waits_;  ///< the journal's thread's
  std::unique_ptr<journal::Journal> journal_;                   // last: its thread uses the others
};

}  // namespace thalweg::actors
