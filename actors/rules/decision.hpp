#pragma once

#include <array>
#include <cstdint>
#include <string>

/// What a rule answers: what to do, and why in words. Rules are pure: the same view and time give the same
/// decision, in a test, in a simulation and in a replay of the log.
namespace thalweg::rules {

/// A reason as a sentence with up to four numbers in it. Cheap to make on every decision; the words are only
/// put together by whoever reads them.
struct Reason {
  const char* sentence = "";  ///< a literal; each `{}` stands for the next number
  std::array<std::uint64_t, 4> numbers{};

  /// The sentence with its numbers, as the log prints it.
  [[nodiscard]] std::string text() const;
};

template <class Action>
struct Decision {
  Action action;
  Reason reason;
};

}  // namespace thalweg::rules
