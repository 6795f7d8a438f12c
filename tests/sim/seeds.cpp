#include "tests/sim/seeds.hpp"

#include "tests/sim/checkers/books_balance.hpp"
#include "tests/sim/checkers/counted_once.hpp"
#include "tests/sim/checkers/ends.hpp"
#include "tests/sim/checkers/owned_waits.hpp"
#include "tests/sim/checkers/paces_kept.hpp"
#include "tests/sim/checkers/parameters_agree.hpp"
#include "tests/sim/checkers/refused_fairly.hpp"
#include "tests/sim/checkers/versions_grow.hpp"
#include "tests/sim/trace.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace thalweg::sim {

namespace {

std::string commit() {
  if (const char* told = std::getenv("THALWEG_COMMIT")) return told;
  const char* source = std::getenv("THALWEG_SOURCE");
  const auto command =
      "git -C '" + std::string(source != nullptr ? source : ".") + "' describe --always --dirty 2>&1";
  std::FILE* git = popen(command.c_str(), "r");
  if (git == nullptr) return "unknown";
  std::array<char, 200> line{};
  std::string text = std::fgets(line.data(), line.size(), git) != nullptr ? line.data() : "unknown";
  pclose(git);
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::vector<std::unique_ptr<Checker>> all_checkers() {
  std::vector<std::unique_ptr<Checker>> checkers;
  checkers.push_back(std::make_unique<CountedOnce>());
  checkers.push_back(std::make_unique<VersionsGrow>());
  checkers.push_back(std::make_unique<ParametersAgree>());
  checkers.push_back(std::make_unique<RefusedFairly>());
  checkers.push_back(std::make_unique<PacesKept>());
  checkers.push_back(std::make_unique<OwnedWaits>());
  checkers.push_back(std::make_unique<Ends>());
  checkers.push_back(std::make_unique<BooksBalance>());
  return checkers;
}

Report run_checked(const SimulationOptions& options, std::ostream* out) {
  Trace trace(out);
  const auto checkers = all_checkers();
  Audience audience{&trace};
  for (const auto& checker : checkers) audience.push_back(checker.get());
  Report report;
  report.ending = simulate(options, audience);
  for (const auto& checker : checkers) {
    report.findings.insert(report.findings.end(), checker->findings().begin(), checker->findings().end());
  }
  report.hash = trace.hash();
  report.messages = trace.messages();
  if (!report.ending.lost) return report;

  const auto& checkpoint = report.ending.checkpoint;
  if (out != nullptr) {
    *out << "== lost; goes on from "
         << (checkpoint ? "version " + std::to_string(checkpoint->version.value) : "the start") << '\n';
  }
  auto rest = options;
  rest.start = checkpoint;
  rest.job.cut_at.reset();
  auto resumed = run_checked(rest, out);
  for (const auto& finding : resumed.findings) report.findings.push_back(finding + " (after the resumption)");
  report.ending = std::move(resumed.ending);
  report.resumed = true;
  report.hash ^= resumed.hash;
  report.messages += resumed.messages;
  return report;
}

std::string failure_text(const Job& job, const Report& report) {
  const auto seed = std::to_string(job.seed);
  std::string text = "seed " + seed + " of commit " + commit() + ": " + job.text() + '\n';
  for (const auto& finding : report.findings) text += "  " + finding + '\n';
  return text + "  again, with every message: tools/dev sim --seed " + seed + '\n';
}

}  // namespace thalweg::sim
