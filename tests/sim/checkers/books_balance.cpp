#include "tests/sim/checkers/books_balance.hpp"

#include "actors/rules/method.hpp"

#include <algorithm>

namespace thalweg::sim {

namespace {

std::string text_of(const std::vector<std::uint64_t>& numbers) {
  std::string text;
  for (const auto number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text.empty() ? "none" : text;
}

bool fits(const std::vector<std::uint64_t>& summary, const std::vector<std::uint64_t>& wire, bool exact) {
  if (exact) return summary == wire;
  return summary.size() <= wire.size() && std::equal(summary.begin(), summary.end(), wire.begin(),
                                                     [](auto told, auto seen) { return told <= seen; });
}

}  // namespace

void BooksBalance::begins(const Job& job, const rules::LockstepSampling& /*sampling*/,
                          const actors::Snapshot* /*start*/) {
  const auto method = rules::find_method(job.config);
  lockstep_ = method && method->planned() && method->pace.kind == rules::PaceRule::Kind::lockstep;
}

void BooksBalance::sent(const Message& message) {
  if (const auto* hello = message.as<actors::Hello>()) {
    // The root stands first, and every leader after its parent.
    levels_["root"] = 0;
    for (const auto& aggregator : hello->aggregators) {
      const auto level = levels_[aggregator.id.text()];
      for (const auto& member : aggregator.roster.added) {
        if (member.id.kind == MemberId::Kind::leader) levels_[member.id.text()] = level + 1;
      }
      up_.resize(std::max(up_.size(), level + 1));
      down_.resize(up_.size());
    }
    return;
  }
  if (const auto* committed = message.as<actors::Committed>()) commits_ = committed->record.version.value;
  if (message.as<actors::Departed>() != nullptr) disturbed_ = true;
  if (const auto* up = message.as<Contribution>()) {
    const auto level = levels_.find(message.to);
    if (level != levels_.end() && up->payload) up_[level->second] += up->payload->bytes();
  }
  if (const auto* down = message.as<Parameters>()) {
    const auto level = levels_.find(message.from);
    if (level != levels_.end()) down_[level->second] += down->payload->bytes();
  }
}

void BooksBalance::handled(std::string_view /*who*/, const Stamp& /*stamp*/) { ++handled_; }

void BooksBalance::dies(std::string_view who) {
  disturbed_ = killed_ = true;
  if (levels_.contains(who)) books_lost_ = true;
}

void BooksBalance::ends(const Ending& ending) {
  if (!ending.outcome) return;
  const auto& summary = ending.outcome->summary;
  // A run that is stopped leaves contributions on their way, unless everybody waits for the last commit.
  const bool settled = lockstep_ || (summary.end == "done" && summary.ended_by == "data");
  const bool exact = !disturbed_ && settled && (summary.end == "done" || summary.end == "stopped");
  if (!fits(summary.bytes_up, up_, exact)) {
    find("the summary has bytes up of " + text_of(summary.bytes_up) + ", the wire " + text_of(up_));
  }
  if (!fits(summary.bytes_down, down_, !books_lost_)) {
    find("the summary has bytes down of " + text_of(summary.bytes_down) + ", the wire " + text_of(down_));
  }
  if (killed_ ? summary.messages > handled_ : summary.messages != handled_) {
    find("the summary has " + std::to_string(summary.messages) + " messages, " + std::to_string(handled_) +
         " were handled");
  }
  if (commits_ != 0 && summary.commits != commits_) {
    find("the summary has " + std::to_string(summary.commits) + " commits, the reporter heard of " +
         std::to_string(commits_));
  }
}

}  // namespace thalweg::sim
