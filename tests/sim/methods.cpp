#include "tests/sim/methods.hpp"

#include "runtime/time/random.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace thalweg::sim {

namespace {

constexpr std::uint64_t method_stream = 123;

bool chance(Random& random, double of) { return random.uniform() < of; }

std::string call(const std::string& name, std::uint64_t number) {
  return name + "(" + std::to_string(number) + ")";
}

/// Rounds that close over the late, of the root or of the leaders.
void draw_quorum(Random& random, Config& config) {
  const auto workers = config.topology.workers;
  const auto quorum = "quorum(" + std::to_string(1 + random.below(workers)) + ", " +
                      std::to_string(random.below(3) * 20) + ")";
  if (config.topology.tree.depth() == 1 || chance(random, 0.5)) {
    config.sync.trigger = quorum;
  } else {
    config.sync.level_triggers[1] = quorum;
  }
}

void draw_lockstep(Random& random, Config& config) {
  if (chance(random, 0.15)) draw_quorum(random, config);
  if (chance(random, 0.2)) {
    config.balance.by = "speed";
    config.balance.every = 1 + random.below(4);
  }
}

/// Contributions that are taken as they arrive: passed on, or folded by the leaders.
void draw_arrivals(Random& random, Config& config, bool may_fold) {
  if (!may_fold || config.topology.tree.depth() == 1 || !chance(random, 0.4)) return;
  constexpr std::array<const char*, 3> leaders{"all", "any", "count(2)"};
  config.sync.level_triggers[1] = leaders[random.below(leaders.size())];
}

void draw_inhad(Random& random, Config& config) {
  auto& sync = config.sync;
  if (chance(random, 0.25)) {
    sync.pull_when =
        "groups(" + std::to_string(1 + random.below(2)) + ", " + std::to_string(1 + random.below(3)) + ")";
  }
  if (chance(random, 0.3)) sync.pull_from = "fastest";
  if (chance(random, 0.3)) sync.parameters_to = "all";
  if (chance(random, 0.3)) sync.pace = call("stale", random.below(4));
}

void draw_flsgd(Random& random, Config& config) {
  auto& sync = config.sync;
  if (chance(random, 0.3)) sync.local = call("steps", 1 + random.below(4));
  constexpr std::array<const char*, 2> adopts{"keep_local", "mix(0.5)"};
  if (chance(random, 0.4)) sync.adopt = adopts[random.below(adopts.size())];
  if (chance(random, 0.3)) sync.warmup_rounds = 1 + random.below(4);
  if (chance(random, 0.3)) sync.compensation = "none";
}

}  // namespace

void draw_method(std::uint64_t seed, Config& config) {
  Random random(seed, method_stream);
  auto& sync = config.sync;
  const auto workers = config.topology.workers;
  const auto soft = 1 + random.below(std::min<std::uint64_t>(workers, 8));
  const auto steps = 1 + random.below(5);
  constexpr std::array<std::string_view, 10> others{"asp",    "ssp",         "nsoftsync",      "inhad",
                                                    "dcasgd", "local_sgd",   "post_local_sgd", "flsgd",
                                                    "diloco", "diloco_eager"};
  std::string name(chance(random, 0.3) ? "ssgd" : others[random.below(others.size())]);
  // To look at one method only: every seed is one of it.
  if (const char* only = std::getenv("THALWEG_SIM_METHOD")) name = only;
  sync.method = name;
  if (name == "ssgd") draw_lockstep(random, config);
  if (name == "asp") draw_arrivals(random, config, true);
  if (name == "ssp") sync.method = call(name, random.below(5));
  if (name == "nsoftsync" || name == "inhad") {
    sync.method = call(name, soft);
    if (chance(random, 0.5)) sync.staleness_scaling = "none";
  }
  if (name == "nsoftsync") draw_arrivals(random, config, true);
  if (name == "inhad") draw_inhad(random, config);
  if (name == "local_sgd" || name == "post_local_sgd" || name.starts_with("diloco")) {
    sync.method = call(name, steps);
    if (name != "diloco_eager") draw_lockstep(random, config);
    if (chance(random, 0.3)) sync.inner = "sgd";
  }
  if (name == "post_local_sgd" && chance(random, 0.5)) sync.warmup_rounds = 1 + random.below(6);
  if (name == "flsgd") {
    sync.method = call(name, steps);
    draw_flsgd(random, config);
  }
}

std::string method_text(const Config& config) {
  const auto& sync = config.sync;
  std::string text = sync.method;
  const auto add = [&text](const char* what, const std::string& value, const std::string& usual = "") {
    if (value != usual) text += " " + (std::string(what) + "=" + value);
  };
  add("local", sync.local);
  add("pace", sync.pace);
  add("trigger", sync.trigger);
  for (std::size_t level = 0; level < sync.level_triggers.size(); ++level) {
    add(("level" + std::to_string(level)).c_str(), sync.level_triggers[level]);
  }
  add("adopt", sync.adopt);
  add("scaling", sync.staleness_scaling);
  add("compensation", sync.compensation);
  add("inner", sync.inner);
  add("pull_when", sync.pull_when, "iterations");
  add("pull_from", sync.pull_from, "all");
  add("parameters_to", sync.parameters_to, "pulled");
  add("warmup", std::to_string(sync.warmup_rounds), "0");
  add("balance", config.balance.by, "none");
  return text;
}

}  // namespace thalweg::sim
