#include "actors/rules/method.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

/// The named methods as choices, and what cannot work together.
namespace thalweg::rules {
namespace {

using Trigger = TriggerRule::Kind;
using Pace = PaceRule::Kind;
using Merge = MergeRule::Kind;
using Compensation = MergeRule::Compensation;
using Set = std::function<void(Config::Sync&)>;

Config config_of(const std::string& method, const Set& set = {}, TreeSpec tree = {0, {{2, {}}, {2, {}}}}) {
  Config config;
  config.topology.tree = std::move(tree);
  config.topology.workers = config.topology.tree.worker_count();
  config.sync.method = method;
  if (set) set(config.sync);
  return config;
}

Method method_of(const std::string& name, const Set& set = {}, TreeSpec tree = {0, {{2, {}}, {2, {}}}}) {
  auto method = find_method(config_of(name, set, std::move(tree)));
  EXPECT_TRUE(method) << name << ": " << (method ? "" : method.error().text);
  return method ? *method : Method{};
}

std::string refusal_of(const std::string& name, const Set& set = {},
                       TreeSpec tree = {0, {{2, {}}, {2, {}}}}) {
  const auto method = find_method(config_of(name, set, std::move(tree)));
  if (method) return "not refused";
  EXPECT_EQ(method.error().code, ErrorCode::invalid);
  return method.error().text;
}

TEST(Method, Ssgd) {
  const auto method = method_of("ssgd");
  EXPECT_EQ(method.pace.kind, Pace::lockstep);
  EXPECT_EQ(method.trigger(0).kind, Trigger::all);
  EXPECT_EQ(method.trigger(1).kind, Trigger::all);
  EXPECT_EQ(method.merge.kind, Merge::mean);
  EXPECT_EQ(method.merge.compensation, Compensation::none);
  EXPECT_EQ(method.merge.scaling, StalenessScaling::none);
  EXPECT_EQ(method.local.steps, 1U);
  EXPECT_TRUE(method.planned());
  EXPECT_FALSE(method.replica());
  EXPECT_TRUE(method.to_all);
}

TEST(Method, ThoseThatTakeEachContributionByItself) {
  for (const char* name : {"asp", "ssp(2)", "dcasgd"}) {
    const auto method = method_of(name);
    EXPECT_EQ(method.trigger(0).kind, Trigger::any) << name;
    EXPECT_EQ(method.trigger(1).kind, Trigger::forward) << name;
    EXPECT_EQ(method.merge.kind, Merge::each) << name;
    EXPECT_EQ(method.merge.scaling, StalenessScaling::none) << name;
    EXPECT_TRUE(method.pace.replies()) << name;
    EXPECT_FALSE(method.planned()) << name;
    EXPECT_FALSE(method.to_all) << name;
  }
  EXPECT_EQ(method_of("asp").pace.kind, Pace::reply);
  EXPECT_EQ(method_of("ssp(2)").pace.kind, Pace::stale);
  EXPECT_EQ(method_of("ssp(2)").pace.gap, 2U);
  EXPECT_EQ(method_of("ssp(0)").pace.gap, 0U);
  EXPECT_EQ(method_of("ssp").pace.gap, 3U);
  const auto dcasgd = method_of("dcasgd");
  EXPECT_EQ(dcasgd.pace.kind, Pace::reply);
  EXPECT_EQ(dcasgd.merge.compensation, Compensation::adaptive);
  EXPECT_EQ(dcasgd.merge.base, MergeRule::Base::origin);
}

TEST(Method, NSoftSync) {
  const auto method = method_of("nsoftsync(2)");
  EXPECT_EQ(method.pace.kind, Pace::reply);
  EXPECT_EQ(method.trigger(0).kind, Trigger::count);
  EXPECT_EQ(method.trigger(0).needed(8), 4U);
  EXPECT_EQ(method.trigger(1).kind, Trigger::forward);
  EXPECT_EQ(method.merge.kind, Merge::mean);
  EXPECT_EQ(method.merge.scaling, StalenessScaling::inverse);
}

TEST(Method, Inhad) {
  const auto method = method_of("inhad(2)");
  EXPECT_EQ(method.pace.kind, Pace::free);
  EXPECT_EQ(method.trigger(0).kind, Trigger::progress);
  EXPECT_EQ(method.trigger(1).kind, Trigger::pulled);
  EXPECT_EQ(method.trigger(3).kind, Trigger::pulled) << "and so on below";
  EXPECT_EQ(method.pull.needed(8), 4U);
  EXPECT_FALSE(method.pull.fastest);
  EXPECT_EQ(method.merge.kind, Merge::mean);
  EXPECT_EQ(method.merge.scaling, StalenessScaling::inverse);
  EXPECT_FALSE(method.to_all);
  EXPECT_FALSE(method.planned());

  const auto other = method_of("inhad(2)", [](auto& sync) {
    sync.pull_when = "groups(2, 3)";
    sync.pull_from = "fastest";
    sync.parameters_to = "all";
    sync.staleness_scaling = "none";
  });
  EXPECT_EQ(other.pull.groups, 2U);
  EXPECT_EQ(other.pull.each, 3U);
  EXPECT_TRUE(other.pull.fastest);
  EXPECT_TRUE(other.to_all);
  EXPECT_EQ(other.merge.scaling, StalenessScaling::none);

  const auto guarded = method_of("inhad(1)", [](auto& sync) { sync.pace = "stale(2)"; });
  EXPECT_FALSE(guarded.pace.replies()) << "nobody answers what leaders hold";
  EXPECT_EQ(guarded.pace.gap, 2U);
  EXPECT_TRUE(guarded.to_all) << "who waits for the slowest must hear of it";

  EXPECT_EQ(method_of("inhad(1)", [](auto& sync) { sync.trigger = "progress(5)"; }).pull.needed(8), 5U);
}

TEST(Method, LocalSgd) {
  for (const char* name : {"local_sgd(4)", "post_local_sgd(4)"}) {
    const auto method = method_of(name);
    EXPECT_EQ(method.local.kind, LocalRule::Kind::steps) << name;
    EXPECT_EQ(method.local.steps, 4U) << name;
    EXPECT_EQ(method.sends, Sends::moves) << name;
    EXPECT_EQ(method.pace.kind, Pace::lockstep) << name;
    EXPECT_EQ(method.inner, "train") << name;
    EXPECT_EQ(method.outer, "sgd") << name;
    EXPECT_EQ(method.outer_lr, 1) << name;
    EXPECT_TRUE(method.planned()) << name;
    EXPECT_TRUE(method.replica()) << name;
  }
  EXPECT_TRUE(method_of("local_sgd(1)").replica()) << "moves are made on a replica";
}

TEST(Method, Flsgd) {
  const auto method = method_of("flsgd(6)");
  EXPECT_EQ(method.local.kind, LocalRule::Kind::free);
  EXPECT_EQ(method.local.steps, 6U);
  EXPECT_EQ(method.pace.kind, Pace::one_behind);
  EXPECT_EQ(method.merge.kind, Merge::steps);
  EXPECT_EQ(method.merge.compensation, Compensation::adaptive);
  EXPECT_EQ(method.merge.base, MergeRule::Base::previous);
  EXPECT_EQ(method.adopt.kind, AdoptRule::Kind::replace);
  EXPECT_EQ(method.inner, "sgd");
  EXPECT_EQ(method.sends, Sends::gradients);
  EXPECT_FALSE(method.planned()) << "how many steps there are is not known ahead";
  const auto fixed = method_of("flsgd", [](auto& sync) {
    sync.local = "steps(4)";
    sync.warmup_rounds = 3;
    sync.adopt = "keep_local";
  });
  EXPECT_TRUE(fixed.planned());
  EXPECT_EQ(fixed.local.most({2}), 1U);
  EXPECT_EQ(fixed.local.most({3}), 4U);
  EXPECT_EQ(fixed.adopt.kind, AdoptRule::Kind::keep_local);
}

TEST(Method, Diloco) {
  for (const char* name : {"diloco(4)", "diloco_eager(4)"}) {
    const auto method = method_of(name);
    EXPECT_EQ(method.local.steps, 4U) << name;
    EXPECT_EQ(method.sends, Sends::moves) << name;
    EXPECT_EQ(method.inner, "adamw") << name;
    EXPECT_EQ(method.inner_clip, 1) << name;
    EXPECT_EQ(method.outer, "nesterov") << name;
    EXPECT_EQ(method.outer_lr, 0.7) << name;
    EXPECT_EQ(method.outer_momentum, 0.9) << name;
  }
  EXPECT_EQ(method_of("diloco(4)").pace.kind, Pace::lockstep);
  EXPECT_EQ(method_of("diloco(4)").adopt.kind, AdoptRule::Kind::replace);
  EXPECT_EQ(method_of("diloco_eager(4)").pace.kind, Pace::one_behind);
  EXPECT_EQ(method_of("diloco_eager(4)").adopt.kind, AdoptRule::Kind::eager);
}

TEST(Method, IsPlannedWhereRoundsHaveFixedStepsAndWaitForAll) {
  EXPECT_FALSE(method_of("ssgd", [](auto& sync) { sync.trigger = "quorum(1, 5)"; }).planned());
  const auto leaders = [](auto& sync) { sync.level_triggers[1] = "quorum(1, 5)"; };
  EXPECT_FALSE(method_of("ssgd", leaders).planned());
  EXPECT_TRUE(method_of("ssgd", leaders, {4, {}}).planned()) << "there are no leaders";
}

TEST(Method, AKeyOverridesItsPart) {
  const auto method = method_of("asp", [](auto& sync) {
    sync.pace = "free";
    sync.merge = "mean";
    sync.staleness_scaling = "inverse";
  });
  EXPECT_EQ(method.pace.kind, Pace::free);
  EXPECT_EQ(method.merge.kind, Merge::mean);
  EXPECT_EQ(method.merge.scaling, StalenessScaling::inverse);
  EXPECT_EQ(method_of("nsoftsync(1)", [](auto& sync) { sync.trigger = "count(3)"; }).trigger(0).needed(8),
            3U);
  const auto outer = method_of("local_sgd(2)", [](auto& sync) {
    sync.outer = "nesterov";
    sync.outer_lr = 0.5;
    sync.outer_momentum = 0.8;
    sync.inner = "adamw";
  });
  EXPECT_EQ(outer.outer_lr, 0.5);
  EXPECT_EQ(outer.outer_momentum, 0.8);
  EXPECT_EQ(outer.inner_clip, 1);
  const auto mixed = method_of("local_sgd(2)", [](auto& sync) { sync.adopt = "mix(0.25)"; });
  EXPECT_EQ(mixed.adopt.kind, AdoptRule::Kind::mix);
  EXPECT_EQ(mixed.adopt.share, 0.25);
}

TEST(Method, RefusesNumbersThatAreNoCounts) {
  EXPECT_EQ(refusal_of("inhad(0)"), "sync.method: inhad takes a whole number from 1 on");
  EXPECT_EQ(refusal_of("nsoftsync(1.5)"), "sync.method: nsoftsync takes a whole number from 1 on");
  EXPECT_EQ(refusal_of("ssp(-1)"), "sync.method: ssp takes a whole number from 0 on");
  EXPECT_EQ(refusal_of("flsgd", [](auto& sync) { sync.local = "steps(0)"; }),
            "sync.local: steps takes a whole number from 1 on");
  EXPECT_EQ(refusal_of("asp", [](auto& sync) { sync.trigger = "count(0)"; }),
            "sync.trigger: count takes a whole number from 1 on");
  EXPECT_EQ(refusal_of("local_sgd", [](auto& sync) { sync.adopt = "mix(2)"; }),
            "sync.adopt: mix takes a share of the new parameters above 0 and up to 1");
}

TEST(Method, RefusesNamesThatAreNotKnown) {
  EXPECT_EQ(refusal_of("ssgd", [](auto& sync) { sync.local = "some"; }),
            "sync.local: expected steps(H) or free(H_max)");
  EXPECT_EQ(refusal_of("ssgd", [](auto& sync) { sync.pace = "slow"; }),
            "sync.pace: expected lockstep, reply, stale(s), one_behind or free");
  EXPECT_EQ(refusal_of("ssgd", [](auto& sync) { sync.trigger = "some"; }),
            "sync.trigger: expected all, any, count(c), progress(c), quorum(q, grace_ms), forward or pulled");
  EXPECT_EQ(refusal_of("ssgd", [](auto& sync) { sync.adopt = "some"; }),
            "sync.adopt: expected replace, keep_local, eager or mix(share)");
  EXPECT_EQ(refusal_of("inhad", [](auto& sync) { sync.pull_when = "some"; }),
            "sync.pull_when: expected iterations or groups(k, m)");
}

TEST(Method, RefusesWhatCannotWorkTogetherAndSaysWhy) {
  struct Case {
    const char* name;
    Set set;
    std::string text;
  };
  const auto pace = [](const char* text) { return [text](auto& sync) { sync.pace = text; }; };
  const auto root = [](const char* text) { return [text](auto& sync) { sync.trigger = text; }; };
  const auto leaders = [](const char* text) { return [text](auto& sync) { sync.level_triggers[1] = text; }; };
  const std::string by_rounds =
      "workers that go by rounds (lockstep, one_behind) wait for everybody's: give all or quorum, or another "
      "pace";
  const Case cases[] = {
      {"asp", [](auto& sync) { sync.level_triggers[0] = "forward"; },
       "level.0.trigger: the root has nobody to hand things to: give all, any, count(c), progress(c) or "
       "quorum"},
      {"asp", [](auto& sync) { sync.level_triggers[0] = "pulled"; },
       "level.0.trigger: the root has nobody to hand things to: give all, any, count(c), progress(c) or "
       "quorum"},
      {"inhad", leaders("progress(2)"),
       "level.1.trigger: only the root pulls: give pulled to those below it"},
      {"ssgd", root("any"), "trigger: " + by_rounds},
      {"local_sgd", root("count(2)"), "trigger: " + by_rounds},
      {"flsgd", leaders("forward"), "level.1.trigger: " + by_rounds},
      {"flsgd", root("quorum(2, 10)"),
       "level.0.trigger: a quorum closes rounds over the late: it needs pace = \"lockstep\""},
      {"asp", leaders("quorum(1, 10)"),
       "level.1.trigger: a quorum closes rounds over the late: it needs pace = \"lockstep\""},
      {"inhad", leaders("forward"),
       "level.1.trigger: the root pulls (progress), so its leaders fold until they are pulled"},
      {"asp", leaders("pulled"),
       "level.1.trigger: leaders that fold until they are pulled need a root that pulls: progress(c)"},
      {"inhad", pace("reply"),
       "pace: what leaders hold until it is pulled is not answered: give free or stale(s)"},
      {"ssp", leaders("count(2)"),
       "pace: stale(s) counts each worker's iterations at the root: leaders must forward"},
      {"flsgd", [](auto& sync) { sync.pace = "free", sync.trigger = "any"; },
       "pace: local steps end with rounds: give lockstep or one_behind"},
      {"diloco", [](auto& sync) { sync.pace = "reply", sync.trigger = "any"; },
       "pace: local steps end with rounds: give lockstep or one_behind"},
      {"asp", [](auto& sync) { sync.local = "steps(4)"; },
       "local: several steps to a contribution need rounds: give lockstep or one_behind as the pace"},
      {"dcasgd", leaders("count(2)"),
       "level.1.trigger: dcasgd measures each worker's delay at the root: leaders must forward, not fold"},
      {"dcasgd", root("count(2)"), "trigger: dcasgd corrects one contribution at a time: give any"},
      {"local_sgd", [](auto& sync) { sync.compensation = "adaptive"; },
       "compensation: moves are neither scaled nor corrected for delay, gradients are"},
      {"diloco", [](auto& sync) { sync.staleness_scaling = "inverse"; },
       "compensation: moves are neither scaled nor corrected for delay, gradients are"},
      {"ssgd", [](auto& sync) { sync.staleness_scaling = "inverse"; },
       "staleness_scaling: rounds that all contribute to have one age: give none"},
      {"flsgd", [](auto& sync) { sync.adopt = "eager"; },
       "adopt: eager needs moves and pace = \"one_behind\", as diloco_eager has"},
      {"diloco_eager", pace("lockstep"),
       "adopt: eager needs moves and pace = \"one_behind\", as diloco_eager has"},
      {"asp", [](auto& sync) { sync.adopt = "keep_local"; },
       "adopt: without rounds workers keep no parameters of their own: give replace"},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(refusal_of(each.name, each.set), "sync." + each.text) << each.name;
  }
}

}  // namespace
}  // namespace thalweg::rules
