#pragma once

#include <array>
#include <cstdint>
#include <string>

/// One thing that happened on a node, as an actor's thread hands it over: fixed in size, without memory of
/// its own, so that handing it over costs a copy.
namespace thalweg::journal {

/// What a record is about. Numbers are stored: never reuse one.
enum class RecordType : std::uint8_t {
  message = 1,   ///< an actor has handled a message
  decision = 2,  ///< a rule has decided, and why
  wait = 3,      ///< an actor had nothing to do until somebody else did something; it is over
  waiting = 4,   ///< likewise, and it goes on
  dropped = 5,   ///< so many records were lost here, since the writer was behind
};

/// Numbers that a body has, by what they mean; `none` where it has no such.
struct RecordNumbers {
  static constexpr std::int64_t none = -1;
  std::int64_t round = none, version = none, iteration = none, samples = none, bytes = none;
  std::int64_t span_ns = none;  ///< time that the message reports of: a step on a device
};

struct Record {
  RecordType type = RecordType::message;
  std::uint16_t actor = 0;  ///< number within its node
  std::uint16_t kind = 0;   ///< of the message
  std::uint32_t term = 0, incarnation = 0;
  std::uint64_t hlc = 0;    ///< hybrid logical clock when it happened: 52 bits of µs, 12 of counter
  std::int64_t at_ns = 0;   ///< monotonic, of this process
  std::uint64_t id = 0;     ///< of the message; of a decision: the message that was being handled
  std::uint64_t cause = 0;  ///< the message because of which it was sent
  std::int64_t queue_us =
      RecordNumbers::none;  ///< from sending to handling; between nodes their clocks are in it
  std::int64_t took_ns = RecordNumbers::none;  ///< handling, or waiting
  RecordNumbers numbers;
  const char* sentence = nullptr;  ///< a literal, each `{}` stands for the next of `arguments`; null: none
  std::array<std::uint64_t, 4> arguments{};
  std::array<char, 16> whom{};  ///< waits: for whom, cut off where it is longer
};

/// The sentence with its numbers.
std::string reason_of(const Record& record);

}  // namespace thalweg::journal
