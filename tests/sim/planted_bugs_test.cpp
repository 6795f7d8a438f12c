#include "gpu/buffer.hpp"
#include "tests/sim/checkers/owned_waits.hpp"
#include "tests/sim/seeds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

/// The checkers see what they are there to see: each bug is planted on the wire, as if an actor had it, and
/// exactly the checkers that hold the broken invariant say so.
namespace thalweg::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Four workers in two groups, five rounds of 12 samples.
Job small_job() {
  Job job = job_with(7, 4, 1);
  job.config.topology.tree = {0, {{2, {}}, {2, {}}}};
  job.config.topology.groups = 2;
  job.config.train.batch = {3};
  job.config.train.steps = 5;
  job.config.eval.every = 0;
  job.config.data.drop_last = false;
  job.samples = 40;
  job.floats = 5;
  job.links = {};
  job.links.delay_max = std::chrono::milliseconds(3);
  job.links.jitter = 1;
  job.stop_at.reset();
  job.cut_at.reset();
  job.leader_killed_at.reset();
  job.troubles.clear();
  job.bad_sample.reset();
  job.config.guard = {};
  job.config.sync = {};
  job.config.balance = {};
  job.config.stop = {};
  job.config.checkpoint.every = 0;
  return job;
}

Report run_with(Bug bug) { return run_checked({small_job(), std::move(bug), {}}); }

/// The checkers that found something, and what the first one found.
std::vector<std::string> fired(const Report& report) {
  std::vector<std::string> names;
  for (const auto& finding : report.findings) {
    const auto name = finding.substr(0, finding.find(':'));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}
std::string all_of(const Report& report) {
  std::string text;
  for (const auto& finding : report.findings) text += finding + '\n';
  return text;
}

Payload changed(const Payload& payload, float by) {
  auto buffer = gpu::BufferPool::make_host(payload->size(), 1)->take();
  std::copy(payload->host().begin(), payload->host().end(), buffer->values().begin());
  buffer->values()[0] += by;
  return buffer;
}

TEST(PlantedBugs, NoneIsNoFinding) {
  EXPECT_THAT(run_with({}).findings, IsEmpty());
  EXPECT_THAT(
      run_with([](Letter letter, const Directory&) { return std::vector{std::move(letter)}; }).findings,
      IsEmpty());
}

/// What w0 contributes to round 1 also comes under the name of w1.
Bug twice_under_another_name() {
  struct Kept {
    std::vector<Letter> of_w0, of_w1;
  };
  return [kept = std::make_shared<Kept>()](Letter letter, const Directory& directory) -> std::vector<Letter> {
    const auto* up = letter.as<Contribution>();
    if (up == nullptr || up->round.value != 1 || (letter.from != "w0" && letter.from != "w1"))
      return {letter};
    (letter.from == "w0" ? kept->of_w0 : kept->of_w1).push_back(letter);
    if (kept->of_w0.empty() || kept->of_w1.empty()) return {};
    auto twice = *kept->of_w0[0].as<Contribution>();
    twice.origin = twice.via = worker_id(1);
    std::vector<Letter> both{kept->of_w0[0], directory.with(kept->of_w1[0], twice)};
    *kept = {};
    return both;
  };
}

TEST(PlantedBugs, AContributionCountedTwiceIsSeenByTheSchedulerItself) {
  EXPECT_DEATH(run_with(twice_under_another_name()),
               "a commit spends what was given out for its round, once");
}

TEST(PlantedBugs, ACommitOfWhatWasCommittedBefore) {
  const auto before = std::make_shared<std::vector<IndexRange>>();
  const auto report = run_with([before](Letter letter, const Directory& directory) -> std::vector<Letter> {
    const auto* down = letter.as<Parameters>();
    if (down == nullptr || letter.from != "root") return {letter};
    if (down->version().value == 1) *before = down->record.spent;
    if (down->version().value != 2) return {letter};
    auto again = *down;
    again.record.spent = *before;
    return {directory.with(letter, again)};
  });
  EXPECT_THAT(fired(report), ElementsAre("counted_once"));
  EXPECT_THAT(all_of(report),
              HasSubstr("version 2 counts [epoch 0, 0..11], of which 12 were counted before"));
}

TEST(PlantedBugs, ALeaderThatForgetsAMember) {
  const auto of_w0 = std::make_shared<Payload>();
  const auto report = run_with([of_w0](Letter letter, const Directory& directory) -> std::vector<Letter> {
    const auto* up = letter.as<Contribution>();
    if (up == nullptr || up->round.value != 2) return {letter};
    if (letter.from == "w0") *of_w0 = up->payload;
    if (letter.from != "g0") return {letter};
    auto forgetful = *up;
    forgetful.payload = std::move(*of_w0);
    return {directory.with(letter, forgetful)};
  });
  EXPECT_THAT(fired(report), ElementsAre("counted_once"));
  EXPECT_THAT(all_of(report), HasSubstr("the contribution of g0 to root in round 2 is not the sum of the "
                                        "gradients of [epoch 0, 24..29]"));
  EXPECT_THAT(all_of(report), HasSubstr("version 3 is not one step along the mean"));
}

TEST(PlantedBugs, AVersionThatGoesBack) {
  const auto first = std::make_shared<std::optional<Parameters>>();
  const auto report = run_with([first](Letter letter, const Directory& directory) -> std::vector<Letter> {
    const auto* down = letter.as<Parameters>();
    if (down == nullptr || letter.from != "g1" || letter.to != directory.member_named("w3").id())
      return {letter};
    if (down->version().value == 1) *first = *down;
    if (down->version().value != 5) return {letter};
    return {directory.with(letter, *std::exchange(*first, std::nullopt))};
  });
  EXPECT_THAT(fired(report), ElementsAre("versions_grow"));
  EXPECT_THAT(all_of(report), HasSubstr("g1 to w3: version 1 after version 4"));
}

TEST(PlantedBugs, AVersionThatIsNotTheSameEverywhere) {
  const auto report = run_with([](Letter letter, const Directory& directory) -> std::vector<Letter> {
    const auto* down = letter.as<Parameters>();
    if (down == nullptr || letter.from != "g0" || down->version().value != 2) return {letter};
    if (letter.to != directory.member_named("w1").id()) return {letter};
    auto other = *down;
    other.payload = changed(down->payload, 0.5F);
    return {directory.with(letter, other)};
  });
  EXPECT_THAT(fired(report), ElementsAre("parameters_agree"));
  EXPECT_THAT(all_of(report), HasSubstr("version 2 sent by g0 to w1 is not version 2 sent by root to g"));
}

TEST(PlantedBugs, GradientsThatAreOlderThanTheMethodAllows) {
  const auto report = run_with([](Letter letter, const Directory& directory) -> std::vector<Letter> {
    const auto* up = letter.as<Contribution>();
    if (up == nullptr || letter.from != "w1" || up->round.value != 2) return {letter};
    auto old = *up;
    old.base_version = Version{1};
    return {directory.with(letter, old)};
  });
  EXPECT_THAT(fired(report), ElementsAre("paces_kept"));
  EXPECT_THAT(all_of(report), HasSubstr("version 3 holds gradients that were taken at version 1, 0 commits"));
}

TEST(PlantedBugs, LostParametersAndWhoWaitsForThem) {
  const auto report = run_with([](Letter letter, const Directory& directory) -> std::vector<Letter> {
    const auto* down = letter.as<Parameters>();
    const bool lost =
        down != nullptr && down->version().value == 2 && letter.to == directory.member_named("w2").id();
    return lost ? std::vector<Letter>{} : std::vector{std::move(letter)};
  });
  EXPECT_THAT(fired(report), ElementsAre("owned_waits", "ends"));
  EXPECT_THAT(all_of(report), HasSubstr("w2 waits"));
  EXPECT_THAT(all_of(report), HasSubstr("the run stands still"));
}

TEST(PlantedBugs, AContributionSentTwiceIsDroppedAndOnTheBooks) {
  const auto report = run_with([](Letter letter, const Directory&) -> std::vector<Letter> {
    const auto* up = letter.as<Contribution>();
    if (up == nullptr || letter.from != "w2" || up->round.value != 3) return {letter};
    return {letter, letter};
  });
  EXPECT_THAT(fired(report), ElementsAre("paces_kept", "books_balance"));
  EXPECT_THAT(all_of(report), HasSubstr("bytes up"));
}

TEST(PlantedBugs, ARefusalOfWhatIsFine) {
  const auto report = run_with([](Letter letter, const Directory& directory) -> std::vector<Letter> {
    const auto* up = letter.as<Contribution>();
    if (up == nullptr || letter.from != "g0" || up->round.value != 1) return {letter};
    auto unfair = *up;
    unfair.refused.push_back({Refusal::Why::not_finite, worker_id(1), {{0, 36, 3}}, false});
    return {directory.with(letter, unfair)};
  });
  EXPECT_THAT(fired(report), ElementsAre("refused_fairly"));
  EXPECT_THAT(all_of(report),
              HasSubstr("the contribution of w1 in round 1 is refused, and nothing is wrong"));
}

TEST(PlantedBugs, AWaitThatNobodyRecorded) {
  OwnedWaits checker;
  checker.named("w0");
  checker.named("w1");
  checker.waits("w0", "g0", {"waits for version {}", {3}});
  checker.waits("w1", "g0", {"waits for version {}", {3}});
  checker.computes("w1", true);
  checker.goes_on("w1");
  checker.pauses(std::chrono::milliseconds(1), false);
  EXPECT_THAT(checker.findings(), IsEmpty());
  checker.computes("w1", false);
  checker.pauses(std::chrono::milliseconds(2), false);
  EXPECT_THAT(checker.findings(),
              ElementsAre("owned_waits: w1 has nothing to do at 2000 us, and has not said for "
                          "whom it waits"));
}

}  // namespace
}  // namespace thalweg::sim
