#include "tests/sim/seeds.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <optional>
#include <string_view>
#include <unistd.h>

/// Simulates seeds, and says what was wrong: `tools/dev sim` runs one of these per core.
///
///     thalweg_sim [--first K] [--seeds N] [--step S] [--verbose]     K, K + S, K + 2 S, ... below K + N
///     thalweg_sim --seed N [--trace]
namespace thalweg::sim {
namespace {

/// The seed under way, for a bug that ends the process in the middle of it.
volatile std::sig_atomic_t seed_now = 0;

void say_seed(int /*signal*/) {
  std::array<char, 100> line{};
  const auto seed = static_cast<long>(seed_now);
  const int size = std::snprintf(line.data(), line.size(),
                                 "seed %ld ended the program; again: tools/dev sim --seed %ld\n", seed, seed);
  (void)!::write(STDERR_FILENO, line.data(), static_cast<std::size_t>(size));
}

struct Arguments {
  std::uint64_t first = 1, seeds = 1000, step = 1;
  bool verbose = false, trace = false;
};

std::optional<Arguments> parse(int count, char** texts) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string_view flag = texts[i];
    if (flag == "--verbose" || flag == "--trace") {
      (flag == "--trace" ? arguments.trace : arguments.verbose) = true;
      continue;
    }
    if (i + 1 == count) return {};
    const std::string_view text = texts[++i];
    std::uint64_t number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return {};
    if (flag == "--first") {
      arguments.first = number;
    } else if (flag == "--seeds") {
      arguments.seeds = number;
    } else if (flag == "--step" && number > 0) {
      arguments.step = number;
    } else if (flag == "--seed") {
      arguments.first = number;
      arguments.seeds = 1;
    } else {
      return {};
    }
  }
  return arguments;
}

/// What a range of seeds came to.
struct Tally {
  std::uint64_t seeds = 0, failed = 0, resumed = 0, messages = 0;
  std::uint64_t refused = 0, quarantined = 0;
  std::map<std::string, std::uint64_t> ends;
  Time time{};

  void add(const Report& report) {
    ++seeds;
    failed += report.findings.empty() ? 0 : 1;
    resumed += report.resumed ? 1 : 0;
    messages += report.messages;
    time += report.ending.at;
    if (!report.ending.outcome) return;
    const auto& summary = report.ending.outcome->summary;
    ++ends[summary.end];
    refused += summary.refused;
    quarantined += summary.quarantined;
  }

  [[nodiscard]] std::string text() const {
    std::string text = std::to_string(seeds) + " seeds, " + std::to_string(failed) + " failed;";
    for (const auto& [end, count] : ends) text += " " + std::to_string(count) + " runs " + end + ",";
    return text + " " + std::to_string(resumed) + " resumed; " + std::to_string(refused) +
           " contributions refused, " + std::to_string(quarantined) + " samples quarantined; " +
           std::to_string(messages) + " messages, " + std::to_string(time / std::chrono::seconds(1)) +
           " s of their time";
  }
};

int run(const Arguments& arguments) {
  std::signal(SIGABRT, say_seed);
  Tally tally;
  const auto began = std::chrono::steady_clock::now();
  for (auto seed = arguments.first; seed < arguments.first + arguments.seeds; seed += arguments.step) {
    seed_now = static_cast<std::sig_atomic_t>(seed);
    const auto job = job_of(seed);
    if (arguments.trace) std::cout << "seed " << seed << ": " << job.text() << '\n' << std::flush;
    const auto report = run_checked({job, {}, {}}, arguments.trace ? &std::cout : nullptr);
    if (arguments.verbose) {
      std::cout << "seed " << seed << ": " << report.messages << " messages, "
                << report.ending.at.count() / 1'000'000 << " ms, trace " << std::hex << report.hash
                << std::dec << ": " << job.text() << '\n';
    }
    if (!report.findings.empty()) std::cout << failure_text(job, report) << std::flush;
    tally.add(report);
  }
  const auto took = std::chrono::steady_clock::now() - began;
  std::cout << tally.text() << " in " << took / std::chrono::milliseconds(1) << " ms\n";
  return tally.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace thalweg::sim

int main(int count, char** texts) {
  const auto arguments = thalweg::sim::parse(count, texts);
  if (!arguments) {
    std::cerr << "thalweg_sim [--first K] [--seeds N] [--step S] [--verbose] | --seed N [--trace]\n";
    return 2;
  }
  return thalweg::sim::run(*arguments);
}
