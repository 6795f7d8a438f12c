#include "runtime/config/known_call.hpp"

#include "runtime/config/call.hpp"
#include "runtime/config/nearest.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <vector>

namespace thalweg::config {
namespace {

// Large enough for everything that is counted, and exact in a double.
constexpr double count_max = 1e9;

constexpr CallNumber count_of_one[] = {{1, count_max}};
constexpr CallNumber gap[] = {{0, count_max}};
constexpr CallNumber share[] = {{0, 1, false}};
constexpr CallNumber members_and_ms[] = {{1, count_max}, {0, count_max, false}};
constexpr CallNumber two_counts[] = {{1, count_max}, {1, count_max}};

constexpr KnownCall methods[] = {
    {"ssgd", {}},
    {"asp", {}},
    {"ssp(s)", gap, true},
    {"nsoftsync(n)", count_of_one, true},
    {"inhad(n)", count_of_one, true},
    {"dcasgd", {}},
    {"local_sgd(H)", count_of_one, true},
    {"post_local_sgd(H)", count_of_one, true},
    {"flsgd(H_max)", count_of_one, true},
    {"diloco(H)", count_of_one, true},
    {"diloco_eager(H)", count_of_one, true},
};

constexpr KnownCall locals[] = {{"steps(H)", count_of_one}, {"free(H_max)", count_of_one}};

constexpr KnownCall paces[] = {
    {"lockstep", {}}, {"reply", {}}, {"stale(s)", gap}, {"one_behind", {}}, {"free", {}}};

/// The last two are for leaders only: the root has nobody to send on to.
constexpr KnownCall triggers[] = {
    {"all", {}},
    {"any", {}},
    {"count(c)", count_of_one},
    {"progress(c)", count_of_one},
    {"quorum(q, grace_ms)", members_and_ms},
    {"forward", {}},
    {"pulled", {}},
};
constexpr std::size_t for_leaders_only = 2;

constexpr KnownCall adopts[] = {{"replace", {}}, {"keep_local", {}}, {"eager", {}}, {"mix(share)", share}};

constexpr KnownCall pulls[] = {{"iterations", {}}, {"groups(k, m)", two_counts}};

/// The word for number `index`: "grace_ms" is number 1 of "quorum(q, grace_ms)".
std::string_view word_of(const KnownCall& call, std::size_t index) {
  std::string_view words = call.written.substr(call.name().size() + 1);
  words.remove_suffix(1);
  for (; index > 0; --index) words.remove_prefix(words.find(',') + 2);
  return words.substr(0, words.find(','));
}

std::string unknown(std::string_view name, std::span<const KnownCall> known) {
  std::vector<std::string> names;
  for (const auto& call : known) names.emplace_back(call.name());
  const std::string nearest = nearest_name(name, names);
  std::string all;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i].name() == nearest) {
      return fmt::format("'{}' is not known: did you mean {}?", name, known[i].written);
    }
    if (i > 0) all += i + 1 == known.size() ? " or " : ", ";
    all += known[i].written;
  }
  return fmt::format("'{}' is not known: use {}", name, all);
}

}  // namespace

std::span<const KnownCall> known_methods() { return methods; }
std::span<const KnownCall> known_locals() { return locals; }
std::span<const KnownCall> known_paces() { return paces; }
std::span<const KnownCall> known_root_triggers() {
  return std::span(triggers).first(std::size(triggers) - for_leaders_only);
}
std::span<const KnownCall> known_leader_triggers() { return triggers; }
std::span<const KnownCall> known_adopts() { return adopts; }
std::span<const KnownCall> known_pulls() { return pulls; }

std::optional<std::string> check_call(std::string_view text, const Calls& allowed) {
  if (text.empty()) {
    if (allowed.may_be_empty) return {};
    return "is empty: give a name, or leave the key out";
  }
  const auto call = parse_call(text);
  if (!call) return call.error().text;
  const KnownCall* known = nullptr;
  for (const auto& candidate : allowed.known) {
    if (candidate.name() == call->name) known = &candidate;
  }
  if (known == nullptr) return unknown(call->name, allowed.known);

  const std::size_t found = call->numbers.size();
  if (found == 0 && known->may_go_without) return {};
  if (found != known->numbers.size()) {
    const std::string brackets =
        found == 0 ? "no number" : fmt::format("{} number{}", found, found == 1 ? "" : "s");
    return fmt::format("'{}' has {} in brackets: write it as {}", text, brackets, known->written);
  }
  for (std::size_t i = 0; i < found; ++i) {
    const double number = call->numbers[i];
    const auto& [low, high, whole] = known->numbers[i];
    if (number >= low && number <= high && !(whole && number != std::floor(number))) continue;
    return fmt::format("'{}' is out of range: {} must be {} from {} to {}", text, word_of(*known, i),
                       whole ? "an integer" : "a number", low, high);
  }
  return {};
}

}  // namespace thalweg::config
