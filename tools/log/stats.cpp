#include "tools/log/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace thalweg::log {
namespace {

constexpr double straggler_factor = 1.5;

double quantile(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

struct Kind {
  std::int64_t count = 0, bytes = 0;
  std::vector<double> queue_s, took_s;
};
struct Worker {
  std::vector<double> spans_s;
  double computed_s = 0, waited_s = 0, first_s = 0, last_s = 0;
  std::map<std::string, double> waited_for;
};
using Kinds = std::map<std::pair<std::string, std::string>, Kind>;
using Workers = std::map<std::string, Worker>;

Status collect(const journal::RunLog& log, Kinds& kinds, Workers& workers) {
  auto asked = ask(log, "SELECT actor, kind, type, bytes, queue_s, took_s, span_s, whom, at_s FROM log");
  if (!asked) return asked.error();
  while (true) {
    const auto row = asked->step();
    if (!row) return row.error();
    if (!*row) return {};
    const auto actor = asked->text(0), type = asked->text(2);
    const bool worker = actor.size() > 1 && actor[0] == 'w' && actor[1] >= '0' && actor[1] <= '9';
    auto* one = worker ? &workers[actor] : nullptr;
    const double at_s = asked->real(8);
    if (one != nullptr) {
      if (one->first_s == 0 || at_s < one->first_s) one->first_s = at_s;
      one->last_s = std::max(one->last_s, at_s);
    }
    if (type == "message") {
      auto& kind = kinds[{actor, asked->text(1)}];
      ++kind.count;
      kind.bytes += asked->integer(3);
      kind.queue_s.push_back(asked->real(4));
      kind.took_s.push_back(asked->real(5));
      if (one != nullptr && asked->text(1) == "step_done") {
        one->spans_s.push_back(asked->real(6));
        one->computed_s += asked->real(6);
      }
    } else if (one != nullptr && type == "wait") {
      one->waited_s += asked->real(5);
      one->waited_for[asked->text(7)] += asked->real(5);
    }
  }
}

std::string workers_text(Workers& workers) {
  Table table({"worker", "steps", "step p50", "step p99", "computed", "waited", "mostly for", "busy"});
  std::vector<double> medians;
  std::vector<std::pair<double, std::string>> by_worker;
  for (auto& [name, worker] : workers) {
    const double middle = quantile(worker.spans_s, 0.5);
    if (middle > 0) {
      medians.push_back(middle);
      by_worker.emplace_back(middle, name);
    }
    const auto most = std::max_element(worker.waited_for.begin(), worker.waited_for.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    const double span = worker.last_s - worker.first_s;
    table.add({plain(name), std::to_string(worker.spans_s.size()), time_text(middle),
               time_text(quantile(worker.spans_s, 0.99)), time_text(worker.computed_s),
               time_text(worker.waited_s), most == worker.waited_for.end() ? "" : plain(most->first),
               span > 0 ? fmt::format("{:.0f} %", 100 * worker.computed_s / span) : ""});
  }
  if (table.empty()) return "";
  std::string text = "workers:\n" + table.text();
  const double usual = quantile(medians, 0.5);
  for (const auto& [middle, name] : by_worker) {
    if (medians.size() > 1 && middle > straggler_factor * usual) {
      text += fmt::format("{} is a straggler: its steps take {}, the others' {}\n", plain(name),
                          time_text(middle), time_text(usual));
    }
  }
  return text;
}

/// Of what reached the root: how many versions old, by the version that was newest when it was handled.
Result<std::string> staleness_text(const journal::RunLog& log) {
  auto asked =
      ask(log,
          "SELECT kind, version, iteration FROM log WHERE (kind = 'contribution' AND actor = 'root') OR "
          "kind = 'committed' ORDER BY hlc, n");
  if (!asked) return asked.error();
  std::map<std::int64_t, std::int64_t> ages;
  std::int64_t newest = 0;
  while (true) {
    const auto row = asked->step();
    if (!row) return row.error();
    if (!*row) break;
    const auto version = asked->integer(1);
    if (asked->text(0) == "committed") {
      newest = std::max(newest, version);
    } else {
      newest = std::max(newest, version);
      ages[newest - version] += std::max<std::int64_t>(1, asked->integer(2));
    }
  }
  if (ages.empty()) return std::string();
  std::string text = "staleness (versions: iterations):";
  for (const auto& [age, count] : ages) text += fmt::format(" {}: {}", age, count);
  return text + "\n";
}

}  // namespace

Status stats(const journal::RunLog& log, const Out& out) {
  Kinds kinds;
  Workers workers;
  if (auto collected = collect(log, kinds, workers); !collected) return collected;
  Table table({"actor", "kind", "count", "bytes", "queue p50", "queue p99", "handling p50", "handling p99"});
  for (auto& [name, kind] : kinds) {
    table.add({plain(name.first), name.second, std::to_string(kind.count), std::to_string(kind.bytes),
               time_text(quantile(kind.queue_s, 0.5)), time_text(quantile(kind.queue_s, 0.99)),
               time_text(quantile(kind.took_s, 0.5)), time_text(quantile(kind.took_s, 0.99))});
  }
  const auto stale = staleness_text(log);
  if (!stale) return stale.error();
  return out(table.text() + workers_text(workers) + *stale);
}

Result<bool> diff(const journal::RunLog& one, const journal::RunLog& other, const Out& out) {
  constexpr const char* sql =
      "SELECT actor, sender, kind, round, version, iteration, samples, reason, id, at_s FROM log WHERE type "
      "= 'message' AND "
      "kind NOT IN ('tick', 'heartbeat') ORDER BY hlc, n";
  struct Message {
    std::string what, id;
    double at_s = 0;
  };
  using ByActor = std::map<std::string, std::vector<Message>>;
  const auto read = [&](const journal::RunLog& log) -> Result<ByActor> {
    ByActor actors;
    auto asked = ask(log, sql);
    if (!asked) return asked.error();
    while (true) {
      const auto row = asked->step();
      if (!row) return row.error();
      if (!*row) return actors;
      std::string what = asked->text(2) + " from " + plain(asked->text(1));
      constexpr const char* names[] = {"round", "version", "iterations", "samples"};
      for (int i = 0; i < 4; ++i) {
        if (!asked->is_null(3 + i)) what += fmt::format(" {} {}", names[i], asked->integer(3 + i));
      }
      actors[asked->text(0)].push_back({std::move(what), asked->text(8), asked->real(9)});
    }
  };
  const auto a = read(one);
  if (!a) return a.error();
  const auto b = read(other);
  if (!b) return b.error();
  std::string text;
  bool same = true;
  double first_s = 0;
  for (const auto& [actor, messages] : *a) {
    const auto found = b->find(actor);
    if (found == b->end()) {
      text += fmt::format("{} is only in the first\n", plain(actor));
      same = false;
      continue;
    }
    const auto& others = found->second;
    const auto [at, at_other] = std::mismatch(messages.begin(), messages.end(), others.begin(), others.end(),
                                              [](const auto& x, const auto& y) { return x.what == y.what; });
    if (at == messages.end() && at_other == others.end()) continue;
    const auto said = [](const auto& list, const auto& where) {
      return where == list.end() ? std::string("nothing more")
                                 : fmt::format("{} [{}] at {:.6f} s", where->what, where->id, where->at_s);
    };
    const double when = at != messages.end() ? at->at_s : messages.empty() ? 0 : messages.back().at_s;
    const auto line = fmt::format("{}: message {}: {}; in the other {}\n", plain(actor),
                                  at - messages.begin() + 1, said(messages, at), said(others, at_other));
    // The earliest stands first: the others follow from it.
    if (same || when < first_s) {
      text = line + text;
      first_s = when;
    } else {
      text += line;
    }
    same = false;
  }
  for (const auto& [actor, messages] : *b) {
    if (!a->contains(actor)) {
      text += fmt::format("{} is only in the second\n", plain(actor));
      same = false;
    }
  }
  if (same) text = "the same messages, in the same order at every actor\n";
  if (auto written = out(text); !written) return written.error();
  return same;
}

}  // namespace thalweg::log
