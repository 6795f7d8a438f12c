#include "actors/recorder.hpp"

#include "actors/log_fields.hpp"
#include "runtime/journal/segments.hpp"

#include <thalweg/version.hpp>

#include <algorithm>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace thalweg::actors {

using journal::Record;
using journal::RecordType;

namespace {

/// Shorter waits are the run's breath, and not written.
constexpr std::chrono::microseconds wait_min{50};
/// A wait that goes on for so long is written before it is over.
constexpr std::chrono::milliseconds wait_long{200};

/// What the thread's actor is handling: `handles` begins it, decisions go into it, `handled` ends it.
struct Current {
  const void* recorder = nullptr;
  Record record;
  std::string_view text;
  std::string text_kept;
};
thread_local Current current;

std::uint64_t hlc_after(std::uint64_t sent, std::uint64_t wall_us) {
  return std::max(sent + 1, wall_us << 12);
}

}  // namespace

Result<std::unique_ptr<Recorder>> Recorder::open(const Config& config, const Clock& clock,
                                                 const Options& options) {
  if (config.log.level == "off") return std::unique_ptr<Recorder>();
  std::unique_ptr<Recorder> recorder(new Recorder(clock, options.term));
  journal::Journal::Options journal;
  journal.folder = options.folder;
  journal.node = journal::node_file_name(options.name);
  journal.bytes_max = std::uint64_t{config.log.max_mb} << 20;
  // With little room, several small files, so that little of it goes at a time.
  journal.segment_bytes = std::min(journal.segment_bytes, journal.bytes_max / 4);
  journal.meta = {{"name", options.name},
                  {"run", options.run},
                  {"node", std::to_string(options.node.value)},
                  {"incarnation", std::to_string(options.incarnation.value)},
                  {"term", std::to_string(options.term)},
                  {"pid", std::to_string(::getpid())},
                  {"release", std::string(version())}};
  journal.kind_of = [](unsigned kind) { return kind_name(static_cast<MessageKind>(kind)); };
  journal.before_flush = [raw = recorder.get()] { raw->tell_long_waits(); };
  auto opened = journal::Journal::open(std::move(journal));
  if (!opened) return opened.error();
  recorder->journal_ = std::move(*opened);
  return recorder;
}

Recorder::~Recorder() = default;

Record Recorder::record_at(std::chrono::nanoseconds at) const {
  Record record;
  record.at_ns = at.count();
  record.hlc = clock_.wall_us() << 12;
  record.term = term_;
  return record;
}

void Recorder::learn(ActorNumber actor, std::string_view name) {
  auto& known = known_[actor.value % known_.size()];
  if (known.load(std::memory_order_relaxed)) return;
  known.store(true, std::memory_order_relaxed);
  journal_->name(actor.value, name);
}

void Recorder::handles(const Handles& message) noexcept {
  auto& record = current.record;
  const auto wall_us = clock_.wall_us();
  record = Record();
  record.type = RecordType::message;
  record.at_ns = message.began.count();
  record.hlc = hlc_after(message.stamp.hlc, wall_us);
  record.actor = message.receiver.value;
  record.kind = static_cast<std::uint16_t>(message.stamp.kind);
  record.term = message.stamp.term;
  record.incarnation = message.stamp.incarnation;
  record.id = message.stamp.id.bits;
  record.cause = message.stamp.cause.bits;
  record.queue_us = std::max<std::int64_t>(
      0, static_cast<std::int64_t>(wall_us) - static_cast<std::int64_t>(message.stamp.hlc >> 12));
  current.recorder = this;
  try {
    const auto fields = log_fields(message.stamp.kind, message.body);
    record.numbers = fields.numbers;
    current.text_kept = fields.text;
    learn(message.receiver, message.name);
  } catch (const std::bad_alloc&) {  // then without words
  }
}

void Recorder::handled(const Handled& message) noexcept {
  if (std::exchange(current.recorder, nullptr) != this) return;
  auto& record = current.record;
  record.took_ns = (message.ended - message.began).count();
  if (current.text_kept.empty()) return journal_->add(record);
  try {
    journal_->add(record, current.text_kept);
  } catch (const std::bad_alloc&) {  // lost
  }
}

/// The first decision while a message is handled is the reason of that message's record; more have their own.
void Recorder::decided(const Decided& decision) noexcept {
  auto& message = current.record;
  if (current.recorder == this && message.actor == decision.actor.value && message.sentence == nullptr &&
      current.text_kept.empty()) {
    message.sentence = decision.reason.sentence;
    message.arguments = decision.reason.numbers;
    return;
  }
  auto record = record_at(clock_.now());
  record.type = RecordType::decision;
  record.actor = decision.actor.value;
  record.id = record.cause = decision.cause.bits;
  record.sentence = decision.reason.sentence;
  record.arguments = decision.reason.numbers;
  journal_->add(record);
}

void Recorder::waited(const Waited& wait) noexcept {
  if (wait.took < wait_min) return;
  auto record = record_at(wait.since);
  // When it began, so that it stands before what ended it.
  record.hlc = (clock_.wall_us() - static_cast<std::uint64_t>(wait.took.count() / 1000)) << 12;
  record.type = RecordType::wait;
  record.actor = wait.actor.value;
  record.took_ns = wait.took.count();
  record.sentence = wait.until.sentence;
  record.arguments = wait.until.numbers;
  std::copy_n(wait.for_whom.begin(), std::min(wait.for_whom.size(), record.whom.size()), record.whom.begin());
  journal_->add(record);
}

/// What is waited for in vain would otherwise not be known after a crash.
void Recorder::tell_long_waits() {
  const auto now = clock_.now();
  for (const auto& entry : board_.entries()) {
    auto& told = told_waits_[entry.actor];
    if (told == entry.since || now - entry.since < wait_long) continue;
    told = entry.since;
    learn(entry.actor, entry.name);
    auto record = record_at(entry.since);
    record.type = RecordType::waiting;
    record.actor = entry.actor.value;
    record.took_ns = (now - entry.since).count();
    record.sentence = entry.until.sentence;
    record.arguments = entry.until.numbers;
    std::copy_n(entry.for_whom.begin(), std::min(entry.for_whom.size(), record.whom.size()),
                record.whom.begin());
    journal_->add(record);
  }
}

}  // namespace thalweg::actors
