#include "actors/rules/method.hpp"

#include "runtime/config/call.hpp"

#include <cmath>
#include <optional>
#include <utility>

namespace thalweg::rules {

namespace {

using config::Call;

/// What the keys of [sync] leave to a method where they say nothing.
constexpr double diloco_lr = 0.7;
constexpr double diloco_clip = 1;

Error wrong(const std::string& key, const std::string& text) {
  return {ErrorCode::invalid, "sync." + key + ": " + text};
}

/// The number at `index` of a call that is a count of at least `low`.
Result<std::uint64_t> count_of(const std::string& key, const Call& call, std::size_t index,
                               std::uint64_t otherwise, std::uint64_t low = 1) {
  if (call.numbers.size() <= index) return otherwise;
  const double number = call.numbers[index];
  if (number < static_cast<double>(low) || number != std::floor(number) || number > 1e9) {
    return wrong(key, call.name + " takes a whole number from " + std::to_string(low) + " on");
  }
  return static_cast<std::uint64_t>(number);
}

/// Builds a method from its preset, then lets the keys of [sync] have their say.
class Builder {
 public:
  explicit Builder(const Config& config) : config_(config), sync_(config.sync) {
    method_.name = sync_.method;
    method_.triggers = {{}};
  }

  Result<Method> build() {
    for (const auto step :
         {&Builder::preset, &Builder::local, &Builder::pace, &Builder::trigger, &Builder::merge,
          &Builder::adopt, &Builder::pull, &Builder::warm_up, &Builder::check}) {
      if (auto problem = (this->*step)()) return *problem;
    }
    return method_;
  }

 private:
  using Problem = std::optional<Error>;

  /// Contributions go up one by one, and each is answered.
  void each_at_once() {
    method_.pace.kind = PaceRule::Kind::reply;
    method_.triggers = {{TriggerRule::Kind::any}, {TriggerRule::Kind::forward}};
    method_.merge.kind = MergeRule::Kind::each;
    method_.to_all = false;
  }
  void moves(std::uint64_t steps, const std::string& inner) {
    method_.sends = Sends::moves;
    method_.local.steps = steps;
    method_.inner = inner;
  }
  void diloco(std::uint64_t steps) {
    moves(steps, "adamw");
    method_.inner_clip = diloco_clip;
    method_.outer = "nesterov";
    method_.outer_lr = diloco_lr;
    method_.outer_momentum = sync_.outer_momentum;
  }

  Problem preset() {
    const auto call = config::parse_call(sync_.method);
    if (!call) return wrong("method", call.error().text);
    const auto& name = call->name;
    const auto number = [&](std::uint64_t otherwise, std::uint64_t low = 1) {
      return count_of("method", *call, 0, otherwise, low);
    };
    if (name == "ssgd") return {};
    if (name == "asp") {
      each_at_once();
    } else if (name == "ssp") {
      const auto gap = number(3, 0);
      if (!gap) return gap.error();
      each_at_once();
      method_.pace.kind = PaceRule::Kind::stale;
      method_.pace.gap = *gap;
    } else if (name == "dcasgd") {
      each_at_once();
      method_.merge.compensation = MergeRule::Compensation::adaptive;
      method_.merge.base = MergeRule::Base::origin;
    } else if (name == "nsoftsync") {
      const auto soft = number(1);
      if (!soft) return soft.error();
      each_at_once();
      method_.triggers[0].kind = TriggerRule::Kind::count;
      method_.triggers[0].soft = *soft;
      method_.merge.kind = MergeRule::Kind::mean;
      method_.merge.scaling = StalenessScaling::inverse;
    } else if (name == "inhad") {
      const auto soft = number(1);
      if (!soft) return soft.error();
      method_.pace.kind = PaceRule::Kind::free;
      method_.triggers = {{TriggerRule::Kind::progress}, {TriggerRule::Kind::pulled}};
      method_.pull.soft = *soft;
      method_.merge.scaling = StalenessScaling::inverse;
      method_.to_all = false;
    } else if (name == "local_sgd" || name == "post_local_sgd") {
      const auto steps = number(8);
      if (!steps) return steps.error();
      moves(*steps, "train");
      method_.half_warm_up = name == "post_local_sgd" && sync_.warmup_rounds == 0;
    } else if (name == "flsgd") {
      const auto most = number(16);
      if (!most) return most.error();
      method_.local = {LocalRule::Kind::free, *most};
      method_.pace.kind = PaceRule::Kind::one_behind;
      method_.merge.kind = MergeRule::Kind::steps;
      method_.merge.compensation = MergeRule::Compensation::adaptive;
    } else if (name == "diloco" || name == "diloco_eager") {
      const auto steps = number(8);
      if (!steps) return steps.error();
      diloco(*steps);
      if (name == "diloco_eager") {
        method_.pace.kind = PaceRule::Kind::one_behind;
        method_.adopt.kind = AdoptRule::Kind::eager;
      }
    } else {
      return wrong("method",
                   "no method is called '" + name +
                       "': the methods are ssgd, asp, ssp(s), nsoftsync(n), inhad(n), dcasgd, "
                       "local_sgd(H), post_local_sgd(H), flsgd(H_max), diloco(H) and diloco_eager(H)");
    }
    return {};
  }

  Problem local() {
    if (sync_.local.empty()) return {};
    const auto call = config::parse_call(sync_.local);
    if (!call) return wrong("local", call.error().text);
    if (call->name != "steps" && call->name != "free")
      return wrong("local", "expected steps(H) or free(H_max)");
    const auto steps = count_of("local", *call, 0, call->name == "free" ? 16 : 1);
    if (!steps) return steps.error();
    method_.local.kind = call->name == "free" ? LocalRule::Kind::free : LocalRule::Kind::steps;
    method_.local.steps = *steps;
    return {};
  }

  Problem pace() {
    if (sync_.pace.empty()) return {};
    const auto call = config::parse_call(sync_.pace);
    if (!call) return wrong("pace", call.error().text);
    using Kind = PaceRule::Kind;
    constexpr std::pair<const char*, Kind> known[] = {{"lockstep", Kind::lockstep},
                                                      {"reply", Kind::reply},
                                                      {"stale", Kind::stale},
                                                      {"one_behind", Kind::one_behind},
                                                      {"free", Kind::free}};
    for (const auto& [name, kind] : known) {
      if (call->name != name) continue;
      method_.pace.kind = kind;
      const auto gap = count_of("pace", *call, 0, 3, 0);
      if (!gap) return gap.error();
      method_.pace.gap = *gap;
      return {};
    }
    return wrong("pace", "expected lockstep, reply, stale(s), one_behind or free");
  }

  Result<TriggerRule> trigger_of(const std::string& key, const std::string& text) {
    const auto call = config::parse_call(text);
    if (!call) return wrong(key, call.error().text);
    using Kind = TriggerRule::Kind;
    constexpr std::pair<const char*, Kind> known[] = {{"all", Kind::all},       {"any", Kind::any},
                                                      {"count", Kind::count},   {"progress", Kind::progress},
                                                      {"quorum", Kind::quorum}, {"forward", Kind::forward},
                                                      {"pulled", Kind::pulled}};
    for (const auto& [name, kind] : known) {
      if (call->name != name) continue;
      TriggerRule rule{kind};
      const auto count = count_of(key, *call, 0, 1);
      if (!count) return count.error();
      rule.count = *count;
      const auto grace = count_of(key, *call, 1, 0, 0);
      if (!grace) return grace.error();
      rule.grace = std::chrono::milliseconds(*grace);
      return rule;
    }
    return wrong(key, "expected all, any, count(c), progress(c), quorum(q, grace_ms), forward or pulled");
  }

  Problem trigger() {
    const auto put = [this](std::size_t level, const std::string& key, const std::string& text) -> Problem {
      const auto rule = trigger_of(key, text);
      if (!rule) return rule.error();
      while (method_.triggers.size() <= level) method_.triggers.push_back(method_.triggers.back());
      method_.triggers[level] = *rule;
      if (rule->kind == TriggerRule::Kind::progress) method_.pull.iterations = rule->count;
      return {};
    };
    if (!sync_.trigger.empty()) {
      // Leaders keep what the method has for them.
      if (method_.triggers.size() == 1) method_.triggers.push_back(method_.triggers[0]);
      if (auto problem = put(0, "trigger", sync_.trigger)) return problem;
    }
    for (std::size_t level = 0; level < sync_.level_triggers.size(); ++level) {
      if (sync_.level_triggers[level].empty()) continue;
      const auto key = "level." + std::to_string(level) + ".trigger";
      if (level == 0 && method_.triggers.size() == 1) method_.triggers.push_back(method_.triggers[0]);
      if (auto problem = put(level, key, sync_.level_triggers[level])) return problem;
    }
    return {};
  }

  Problem merge() {
    auto& merge = method_.merge;
    if (sync_.merge == "mean") merge.kind = MergeRule::Kind::mean;
    if (sync_.merge == "each") merge.kind = MergeRule::Kind::each;
    if (sync_.staleness_scaling == "none") merge.scaling = StalenessScaling::none;
    if (sync_.staleness_scaling == "inverse") merge.scaling = StalenessScaling::inverse;
    if (sync_.compensation == "none") merge.compensation = MergeRule::Compensation::none;
    if (sync_.compensation == "constant") merge.compensation = MergeRule::Compensation::constant;
    if (sync_.compensation == "adaptive") merge.compensation = MergeRule::Compensation::adaptive;
    merge.lambda = sync_.compensation_lambda;
    merge.clamp = sync_.compensation_clamp;
    if (!sync_.inner.empty()) {
      method_.inner = sync_.inner;
      method_.inner_clip = sync_.inner == "adamw" ? diloco_clip : 0;
    }
    if (method_.inner == "train") method_.inner_clip = config_.train.clip_norm;
    if (!sync_.outer.empty()) {
      method_.outer = sync_.outer;
      method_.outer_momentum = sync_.outer == "nesterov" ? sync_.outer_momentum : 0;
      method_.outer_lr = sync_.outer == "nesterov" ? diloco_lr : 1;
    }
    if (sync_.outer_lr > 0) method_.outer_lr = sync_.outer_lr;
    return {};
  }

  Problem adopt() {
    if (sync_.adopt.empty()) return {};
    const auto call = config::parse_call(sync_.adopt);
    if (!call) return wrong("adopt", call.error().text);
    using Kind = AdoptRule::Kind;
    if (call->name == "replace") {
      method_.adopt.kind = Kind::replace;
    } else if (call->name == "keep_local") {
      method_.adopt.kind = Kind::keep_local;
    } else if (call->name == "eager") {
      method_.adopt.kind = Kind::eager;
    } else if (call->name == "mix") {
      method_.adopt.kind = Kind::mix;
      method_.adopt.share = call->numbers.empty() ? 0.5 : call->numbers[0];
      if (method_.adopt.share <= 0 || method_.adopt.share > 1) {
        return wrong("adopt", "mix takes a share of the new parameters above 0 and up to 1");
      }
    } else {
      return wrong("adopt", "expected replace, keep_local, eager or mix(share)");
    }
    return {};
  }

  Problem pull() {
    const auto call = config::parse_call(sync_.pull_when);
    if (!call) return wrong("pull_when", call.error().text);
    if (call->name == "groups") {
      const auto groups = count_of("pull_when", *call, 0, 1);
      if (!groups) return groups.error();
      const auto each = count_of("pull_when", *call, 1, 1);
      if (!each) return each.error();
      method_.pull.groups = *groups;
      method_.pull.each = *each;
    } else if (call->name != "iterations") {
      return wrong("pull_when", "expected iterations or groups(k, m)");
    }
    method_.pull.fastest = sync_.pull_from == "fastest";
    const bool pulls = method_.triggers[0].kind == TriggerRule::Kind::progress;
    if (pulls && sync_.parameters_to == "all") method_.to_all = true;
    return {};
  }

  Problem warm_up() {
    method_.local.warmup_rounds = sync_.warmup_rounds;
    method_.pace.warmup_rounds = sync_.warmup_rounds;
    return {};
  }

  /// Refuses what cannot work together, with the reason.
  Problem check() {
    using Pace = PaceRule::Kind;
    using Trigger = TriggerRule::Kind;
    const auto root = method_.triggers[0].kind;
    const bool leaders = config_.topology.tree.depth() > 1;
    const bool rounds = method_.by_rounds();
    bool planned = method_.local.kind == LocalRule::Kind::steps && rounds;
    for (std::size_t level = 0; level < method_.triggers.size(); ++level) {
      const auto& rule = method_.triggers[level];
      const auto key = "level." + std::to_string(level) + ".trigger";
      const bool here = level == 0 || leaders;
      if (rule.kind != Trigger::all) planned = planned && !here;
      if (level == 0 && (rule.kind == Trigger::forward || rule.kind == Trigger::pulled)) {
        return wrong(key,
                     "the root has nobody to hand things to: give all, any, count(c), progress(c) or quorum");
      }
      if (level > 0 && rule.kind == Trigger::progress) {
        return wrong(key, "only the root pulls: give pulled to those below it");
      }
      if (rounds && here && rule.kind != Trigger::all && rule.kind != Trigger::quorum) {
        return wrong(
            level == 0 ? "trigger" : key,
            "workers that go by rounds (lockstep, one_behind) wait for everybody's: give all or quorum, or "
            "another pace");
      }
      if (rule.kind == Trigger::quorum && method_.pace.kind != Pace::lockstep) {
        return wrong(key, "a quorum closes rounds over the late: it needs pace = \"lockstep\"");
      }
      const bool waits = level > 0 && (method_.triggers[level - 1].kind == Trigger::all ||
                                       (level > 1 && method_.triggers[level - 1].kind == Trigger::count));
      if (leaders && waits && rule.kind == Trigger::forward) {
        return wrong(key,
                     "the level above waits for its members, and hears of them only if they fold: give "
                     "all, any or count(c)");
      }
      if (level > 0 && leaders && (rule.kind == Trigger::pulled) != (root == Trigger::progress)) {
        return wrong(key,
                     root == Trigger::progress
                         ? "the root pulls (progress), so its leaders fold until they are pulled"
                         : "leaders that fold until they are pulled need a root that pulls: progress(c)");
      }
    }
    method_.local.planned = planned;
    if (root == Trigger::progress && method_.pace.kind != Pace::free && method_.pace.kind != Pace::stale) {
      return wrong("pace", "what leaders hold until it is pulled is not answered: give free or stale(s)");
    }
    if (root == Trigger::progress && method_.pace.kind == Pace::stale) {
      method_.pace.answered = false;
      method_.to_all = true;  // who waits for the slowest must hear of it
    }
    if (method_.pace.kind == Pace::stale && root != Trigger::progress) {
      for (std::size_t level = 1; leaders && level < method_.triggers.size(); ++level) {
        if (method_.triggers[level].kind != Trigger::forward) {
          return wrong("pace", "stale(s) counts each worker's iterations at the root: leaders must forward");
        }
      }
    }
    if (!rounds && (method_.local.kind == LocalRule::Kind::free || method_.sends == Sends::moves)) {
      return wrong("pace", "local steps end with rounds: give lockstep or one_behind");
    }
    if (!rounds && method_.local.steps > 1) {
      return wrong("local",
                   "several steps to a contribution need rounds: give lockstep or one_behind as the pace");
    }
    if (method_.merge.base == MergeRule::Base::origin &&
        method_.merge.compensation != MergeRule::Compensation::none) {
      for (std::size_t level = 1; leaders && level < method_.triggers.size(); ++level) {
        if (method_.triggers[level].kind == Trigger::forward) continue;
        return wrong("level." + std::to_string(level) + ".trigger",
                     "dcasgd measures each worker's delay at the root: leaders must forward, not fold");
      }
      if (root != Trigger::any)
        return wrong("trigger", "dcasgd corrects one contribution at a time: give any");
    }
    if (method_.sends == Sends::moves && (method_.merge.compensation != MergeRule::Compensation::none ||
                                          method_.merge.scaling != StalenessScaling::none)) {
      return wrong("compensation", "moves are neither scaled nor corrected for delay, gradients are");
    }
    if (method_.merge.scaling != StalenessScaling::none && root == Trigger::all) {
      return wrong("staleness_scaling", "rounds that all contribute to have one age: give none");
    }
    if (method_.adopt.kind == AdoptRule::Kind::eager &&
        (method_.sends != Sends::moves || method_.pace.kind != Pace::one_behind)) {
      return wrong("adopt", "eager needs moves and pace = \"one_behind\", as diloco_eager has");
    }
    if (method_.replica() && !rounds) {
      return wrong("adopt", "without rounds workers keep no parameters of their own: give replace");
    }
    return {};
  }

  const Config& config_;
  const Config::Sync& sync_;
  Method method_;
};

}  // namespace

Result<Method> find_method(const Config& config) { return Builder(config).build(); }

}  // namespace thalweg::rules
