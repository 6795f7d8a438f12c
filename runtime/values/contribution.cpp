#include "runtime/values/contribution.hpp"

#include <algorithm>

namespace thalweg {

namespace {

void add_age(std::vector<Age>& ages, const Age& age) {
  if (age.iterations == 0) return;
  const auto found =
      std::find_if(ages.begin(), ages.end(), [&](const Age& each) { return each.base == age.base; });
  if (found == ages.end()) {
    ages.push_back(age);
  } else {
    found->iterations += age.iterations;
  }
}

}  // namespace

void add_up(Contribution& total, const Contribution& each) {
  total.base_version =
      total.iterations == 0 ? each.base_version : std::min(total.base_version, each.base_version);
  if (each.ages.empty()) add_age(total.ages, {each.base_version, each.iterations});
  for (const auto& age : each.ages) add_age(total.ages, age);
  total.samples += each.samples;
  total.batch += each.batch;
  total.steps = std::max(total.steps, each.steps);
  total.iterations += each.iterations;
  for (const auto& range : each.spent) append_range(total.spent, range);
  total.refused.insert(total.refused.end(), each.refused.begin(), each.refused.end());
  total.score += each.score;
  total.norm += each.norm;
  total.compute_ns += each.compute_ns;
  total.work.insert(total.work.end(), each.work.begin(), each.work.end());
}

}  // namespace thalweg
