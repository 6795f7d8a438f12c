#include "tests/sim/trace.hpp"

#include "tests/sim/ranges.hpp"

namespace thalweg::sim {

std::string text_of(const Message& message) {
  std::string text = kind_name(message.stamp.kind);
  if (const auto* up = message.as<Contribution>()) {
    text += " of round " + std::to_string(up->round.value) + " by " + up->origin.text() + ": " +
            text_of(up->spent);
    for (const auto& refusal : up->refused) text += ", refused of " + refusal.origin.text();
  } else if (const auto* down = message.as<Parameters>()) {
    text += " " + std::to_string(down->version().value) + (down->record.last ? " (the last)" : "");
    text += " that opens round " + std::to_string(down->record.round.value);
  } else if (const auto* batch = message.as<Batch>()) {
    text += " of round " + std::to_string(batch->round.value) + ": [" + text_of(batch->range) + "]";
  } else if (const auto* committed = message.as<actors::Committed>()) {
    text += " version " + std::to_string(committed->record.version.value);
  } else if (const auto* failed = message.as<actors::Failed>()) {
    text += ": " + failed->who + ": " + failed->why;
  } else if (const auto* closed = message.as<actors::RoundClosed>()) {
    text += " " + std::to_string(closed->round.value) + ": " + text_of(closed->spent);
    for (const auto& refusal : closed->refused) {
      text += ", refused of " + refusal.origin.text() + ": " + text_of(refusal.spent);
    }
  } else if (const auto* departed = message.as<actors::Departed>()) {
    text += " " + departed->member.text() + ": " + departed->why;
  } else if (const auto* left = message.as<actors::Left>()) {
    text += " " + left->member.text() + ": " + left->why;
  } else if (const auto* roster = message.as<actors::Roster>()) {
    for (const auto& member : roster->added) text += " +" + member.id.text();
    for (const auto& member : roster->removed) text += " -" + member.text();
  } else if (const auto* stopped = message.as<actors::Stopped>()) {
    text += ": " + stopped->who;
  }
  return text;
}

void Trace::mix(std::string_view text) {
  for (const char byte : text) {
    hash_ = (hash_ ^ static_cast<unsigned char>(byte)) * 1099511628211U;
  }
}

void Trace::mix(std::uint64_t number) {
  for (int byte = 0; byte < 8; ++byte, number >>= 8) hash_ = (hash_ ^ (number & 0xff)) * 1099511628211U;
}

void Trace::sent(const Message& message) {
  ++messages_;
  mix(message.from);
  mix(message.stamp.id.bits);
  mix(message.stamp.hlc);
  if (out_ != nullptr)
    *out_ << "  " << message.from << " > " << message.to << ": " << text_of(message) << '\n';
}

void Trace::delivered(const Message& message) {
  mix(message.stamp.id.bits);
  if (out_ != nullptr)
    *out_ << "  " << message.to << " < " << message.from << ": " << text_of(message) << '\n';
}

void Trace::handled(std::string_view who, const Stamp& stamp) {
  mix(who);
  mix(stamp.id.bits);
}

void Trace::decided(std::string_view who, const rules::Reason& reason) {
  mix(who);
  for (const auto number : reason.numbers) mix(number);
  if (out_ != nullptr) *out_ << "    " << who << ": " << reason.text() << '\n';
}

void Trace::waits(std::string_view who, std::string_view for_whom, const rules::Reason& until) {
  if (out_ != nullptr) *out_ << "    " << who << " waits for " << for_whom << ": " << until.text() << '\n';
}

void Trace::computes(std::string_view who, bool busy) {
  mix(who);
  if (out_ != nullptr) *out_ << "    " << who << (busy ? " computes\n" : " has computed\n");
}

void Trace::dies(std::string_view who) {
  mix(who);
  if (out_ != nullptr) *out_ << "    " << who << " is killed\n";
}

void Trace::pauses(Time now, bool for_ever) {
  mix(static_cast<std::uint64_t>(now.count()));
  if (out_ != nullptr)
    *out_ << "-- " << now.count() / 1000 << " us" << (for_ever ? ": nothing is on its way\n" : "\n");
}

}  // namespace thalweg::sim
