#include "actors/rules/method.hpp"

namespace thalweg::rules {

namespace {

template <class Interface, class Rule>
std::unique_ptr<Interface> make() {
  return std::make_unique<Rule>();
}

/// S-SGD: one step each, everybody waits for the commit, the root takes the mean.
Method ssgd() {
  return {"ssgd",
          make<LocalRule, OneStep>,
          make<PaceRule, Lockstep>,
          make<TriggerRule, AllMembers>,
          make<MergeRule, SampleMean>,
          make<AdoptRule, Replace>,
          true};
}

}  // namespace

Result<Method> find_method(const Config& config) {
  if (config.sync.method == "ssgd") return ssgd();
  return Error{ErrorCode::invalid,
               "sync.method: no method is called '" + config.sync.method + "': this release knows: ssgd"};
}

}  // namespace thalweg::rules
