#pragma once

#include "tests/sim/checker.hpp"

#include <map>
#include <string>

namespace thalweg::sim {

/// A version is the same numbers everywhere: to whomever it is sent, when it arrives as when it left, to the
/// evaluator, and in the snapshot at the end.
class ParametersAgree final : public Checker {
 public:
  ParametersAgree() : Checker("parameters_agree") {}

  void sent(const Message& message) override { look(message, "sent by "); }
  void delivered(const Message& message) override { look(message, "that came from "); }
  void ends(const Ending& ending) override;

 private:
  struct Seen {
    std::uint64_t hash = 0;
    std::string where;
  };

  void look(const Message& message, const char* how);
  void compare(Version version, const Payload& payload, const std::string& where);

  std::map<Version, Seen> seen_;
};

}  // namespace thalweg::sim
