#pragma once

#include "actors/messages.hpp"
#include "actors/reporter.hpp"
#include "actors/rules/decision.hpp"
#include "actors/rules/sampling.hpp"
#include "tests/sim/job.hpp"
#include "tests/sim/virtual_time.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What looks on while a simulation runs. A checker holds one invariant and says in words where it was
/// broken; it never ends the run, so that one bug is seen by everything that it breaks.
namespace thalweg::sim {

/// A message as a looker-on sees it.
struct Message {
  std::string_view from, to;  ///< names, "w3"
  const Stamp& stamp;
  const void* body;

  /// Its body if it is a `Body`, else null.
  template <class Body>
  [[nodiscard]] const Body* as() const {
    return stamp.kind == actors::kind_of<Body> ? static_cast<const Body*>(body) : nullptr;
  }
};

/// How a run ended, or that it did not.
struct Ending {
  std::optional<actors::Outcome> outcome;      ///< none: the run stands still or was given up
  std::string cut;                             ///< why it was given up; empty: it was not
  bool lost = false;                           ///< the job says that the machine is lost at this point
  std::optional<actors::Snapshot> checkpoint;  ///< the last one that was kept
  std::size_t left = 0;                        ///< actors that still run
  Time at{};
  std::uint64_t events = 0;
};

class Checker {
 public:
  explicit Checker(std::string name) : name_(std::move(name)) {}
  virtual ~Checker() = default;
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  /// `start`: what the run goes on from; null: it begins anew.
  virtual void begins(const Job& /*job*/, const rules::LockstepSampling& /*sampling*/,
                      const actors::Snapshot* /*start*/) {}
  /// The actor `who` has begun.
  virtual void named(std::string_view /*who*/) {}
  /// A message leaves its sender; it reaches the receiver's mailbox as `delivered`.
  virtual void sent(const Message& /*message*/) {}
  virtual void delivered(const Message& /*message*/) {}
  /// `who` has handled the message with this stamp.
  virtual void handled(std::string_view /*who*/, const Stamp& /*stamp*/) {}
  virtual void decided(std::string_view /*who*/, const rules::Reason& /*reason*/) {}
  virtual void waits(std::string_view /*who*/, std::string_view /*for_whom*/,
                     const rules::Reason& /*until*/) {}
  virtual void goes_on(std::string_view /*who*/) {}
  /// The stream of `who` has begun or finished what it was given.
  virtual void computes(std::string_view /*who*/, bool /*busy*/) {}
  /// The actor `who` is killed.
  virtual void dies(std::string_view /*who*/) {}
  /// Nobody has anything to do at this moment: time goes on, or, when nothing is on its way, stands still.
  virtual void pauses(Time /*now*/, bool /*for_ever*/) {}
  virtual void ends(const Ending& /*ending*/) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<std::string>& findings() const { return findings_; }

 protected:
  /// Records that the invariant was broken. The first few are kept: the rest follow from them.
  void find(const std::string& text) {
    if (findings_.size() < findings_max) findings_.push_back(name_ + ": " + text);
  }

 private:
  static constexpr std::size_t findings_max = 5;

  std::string name_;
  std::vector<std::string> findings_;
};

/// Everybody who looks on.
using Audience = std::vector<Checker*>;

}  // namespace thalweg::sim
