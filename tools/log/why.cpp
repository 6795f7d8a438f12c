#include "tools/log/path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace thalweg::log {
namespace {

constexpr std::size_t waits_shown = 10;
/// A step that took so many times as long as the round's others is a straggler's.
constexpr double straggler_factor = 1.5;
/// But only when the round could have been shorter by this share without it.
constexpr double straggler_share = 0.1;

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Sums of waits between two times, the longest first.
Status say_waits(const journal::RunLog& log, double from_s, double to_s, const Out& out) {
  auto asked = ask(
      log,
      "SELECT node, actor, whom, sum(min(at_s + took_s, ?2 / 1e6) - max(at_s, ?1 / 1e6)), reason FROM log "
      "WHERE type IN ('wait', 'waiting') AND at_s + took_s >= ?1 / 1e6 AND at_s <= ?2 / 1e6 "
      "GROUP BY node, actor, whom ORDER BY 4 DESC",
      {static_cast<std::int64_t>(from_s * 1e6), static_cast<std::int64_t>(to_s * 1e6)});
  if (!asked) return asked.error();
  Table table({"who", "waited for", "time", "for what"});
  std::size_t rows = 0;
  while (true) {
    const auto row = asked->step();
    if (!row) return row.error();
    if (!*row || rows++ == waits_shown) break;
    table.add(
        {plain(asked->text(1)), plain(asked->text(2)), time_text(asked->real(3)), plain(asked->text(4))});
  }
  if (table.empty()) return {};
  return out("who waited for whom:\n" + table.text());
}

/// Deaths, refusals and what else is out of the ordinary between two times.
Result<std::vector<std::string>> events(const journal::RunLog& log, double from_s, double to_s) {
  auto asked = ask(log,
                   "SELECT at_s, actor, kind, reason FROM log WHERE at_s >= ? / 1e6 AND at_s <= ? / 1e6 AND "
                   "reason IS NOT NULL AND (kind IN ('departed', 'left', 'failed', 'parted', 'refuse', "
                   "'leave', 'closing') "
                   "OR reason LIKE 'refuse%' OR reason LIKE 'pauses%' OR type = 'dropped') ORDER BY hlc",
                   {static_cast<std::int64_t>(from_s * 1e6), static_cast<std::int64_t>(to_s * 1e6)});
  if (!asked) return asked.error();
  std::vector<std::string> lines;
  while (true) {
    const auto row = asked->step();
    if (!row) return row.error();
    if (!*row) return lines;
    lines.push_back(fmt::format("{:.6f} {} {}: {}", asked->real(0), plain(asked->text(1)), asked->text(2),
                                plain(asked->text(3))));
  }
}

/// What the workers' steps of the path's time say: the slowest, when it stands out.
Result<std::string> straggler(const journal::RunLog& log, std::int64_t round, double round_s) {
  auto asked = ask(
      log,
      "SELECT sender, sum(span_s) FROM log WHERE kind = 'contribution' AND round = ? AND sender LIKE 'w%' "
      "AND span_s > 0 GROUP BY sender",
      {round});
  if (!asked) return asked.error();
  std::vector<double> spans;
  std::pair<double, std::string> slowest;
  while (true) {
    const auto row = asked->step();
    if (!row) return row.error();
    if (!*row) break;
    spans.push_back(asked->real(1));
    slowest = std::max(slowest, {asked->real(1), asked->text(0)});
  }
  if (spans.size() < 2) return std::string();
  std::erase(spans, slowest.first);
  const double usual = spans.empty() ? slowest.first : median(spans);
  if (slowest.first - usual < straggler_share * round_s) return std::string();
  if (slowest.first < straggler_factor * usual) return std::string();
  return fmt::format("{} is slow: it computed for {}, the others for {}", plain(slowest.second),
                     time_text(slowest.first), time_text(usual));
}

/// The part of the path that took longest, in words.
std::string longest(const std::vector<Link>& path) {
  double most = 0;
  std::string text = "nothing in it took long";
  for (std::size_t i = 1; i < path.size(); ++i) {
    const double gap = path[i].at_s - path[i - 1].at_s;
    if (gap <= most) continue;
    most = gap;
    const auto& link = path[i];
    if (link.span_s > gap / 2) {
      text = fmt::format("{} computed for {}", plain(link.actor), time_text(link.span_s));
    } else if (link.queue_s > gap / 2) {
      text = fmt::format("the {} of {} to {} was under way for {}", link.kind, plain(link.sender),
                         plain(link.actor), time_text(link.queue_s));
    } else {
      text = fmt::format("{} needed {} before it sent {} to {}", plain(link.sender), time_text(gap),
                         link.kind, plain(link.actor));
    }
  }
  return text;
}

}  // namespace

Status why_round(const journal::RunLog& log, std::int64_t round, const Out& out) {
  auto closed = find_links(log,
                           "SELECT n FROM records WHERE round = ? AND type = 1 AND kind IN "
                           "(SELECT kind FROM kinds WHERE name = 'round_closed')",
                           {round});
  if (!closed) return closed.error();
  if (closed->empty()) {
    return Error{
        ErrorCode::not_found,
        fmt::format(
            "round {}: the log does not say that it was closed: it may be older than the log, or be the "
            "one that is open: ask with --now",
            round)};
  }
  const auto& last = closed->back();
  // It was opened when the one before it was closed.
  auto before = find_links(log,
                           "SELECT n FROM records WHERE round = ? AND type = 1 AND kind IN "
                           "(SELECT kind FROM kinds WHERE name = 'round_closed')",
                           {round - 1});
  if (!before) return before.error();
  auto path = chain_to(log, last, before->empty() ? 0 : before->back().at_s - before->back().queue_s);
  if (!path) return path.error();
  const double from_s = before->empty() ? path->front().at_s : before->back().at_s;
  auto slow = straggler(log, round, last.at_s - from_s);
  if (!slow) return slow.error();
  std::string head =
      fmt::format("round {} took {}: {}\n", round, time_text(last.at_s - from_s), longest(*path));
  if (!slow->empty()) head += *slow + "\n";
  if (auto written = out(head); !written) return written;
  const auto happened = events(log, from_s, last.at_s);
  if (!happened) return happened.error();
  for (const auto& line : *happened) {
    if (auto written = out("in it: " + line + "\n"); !written) return written;
  }
  if (auto written = out("its critical path:\n"); !written) return written;
  double previous = path->front().at_s;
  for (const auto& link : *path) {
    if (auto written = out(fmt::format("{:12.6f} {:>+10.3f} ms {}\n", link.at_s, (link.at_s - previous) * 1e3,
                                       link_text(link)));
        !written) {
      return written;
    }
    previous = link.at_s;
  }
  return say_waits(log, from_s, last.at_s, out);
}

Status why_iteration(const journal::RunLog& log, std::int64_t iteration, const Out& out) {
  auto asked = ask(
      log, "SELECT round, iteration FROM log WHERE kind = 'contribution' AND actor = 'root' ORDER BY hlc, n");
  if (!asked) return asked.error();
  std::int64_t done = 0;
  while (true) {
    const auto row = asked->step();
    if (!row) return row.error();
    if (!*row) break;
    done += asked->integer(1);
    if (done >= iteration) return why_round(log, asked->integer(0), out);
  }
  return Error{ErrorCode::not_found,
               fmt::format("iteration {}: {} have reached the root in this log", iteration, done)};
}

Status why_now(const journal::RunLog& log, const Out& out) {
  // The newest thing known of each actor: whether it waits, and for whom.
  auto asked =
      ask(log,
          "SELECT l.node, l.actor, l.type, l.whom, l.took_s, l.reason, l.at_s, l.kind FROM log AS l JOIN "
          "(SELECT life, actor, max(n) AS newest FROM records WHERE type IN (1, 3, 4) GROUP BY life, actor) "
          "AS last "
          "ON l.n = last.newest ORDER BY l.at_s");
  if (!asked) return asked.error();
  struct Last {
    std::string node, type, whom, reason, kind;
    double took_s = 0, at_s = 0;
  };
  std::map<std::string, Last> actors;
  double end_s = 0;
  while (true) {
    const auto row = asked->step();
    if (!row) return row.error();
    if (!*row) break;
    Last last{asked->text(0), asked->text(2), asked->text(3), asked->text(5),
              asked->text(7), asked->real(4), asked->real(6)};
    end_s = std::max(end_s, last.at_s + (last.type == "waiting" ? last.took_s : 0));
    actors[asked->text(1)] = std::move(last);
  }
  auto closing = find_links(
      log,
      "SELECT n FROM records WHERE type = 1 AND kind IN (SELECT kind FROM kinds WHERE name = 'closing')");
  if (!closing) return closing.error();
  if (!closing->empty() && closing->back().at_s + 1 > end_s) {
    const auto& why = closing->back().reason;
    return out(fmt::format("nothing waits: the run has ended at {:.3f} s{}\n", closing->back().at_s,
                           why.empty() ? "" : ": " + plain(why)));
  }
  auto text = fmt::format("at the end of the log, {:.3f} s after its beginning:\n", end_s);
  std::set<std::string> seen;
  std::string at = "root", culprit;
  while (actors.contains(at) && seen.insert(at).second) {
    const auto& last = actors.at(at);
    if (last.type == "waiting") {
      text += fmt::format("{} waits for {} since {:.3f} s: {}\n", plain(at), plain(last.whom), last.at_s,
                          plain(last.reason));
      at = last.whom;
      continue;
    }
    culprit = at;
    text += fmt::format("{} was last heard of at {:.3f} s, {} before the end: {} {}\n", plain(at), last.at_s,
                        time_text(end_s - last.at_s), last.type,
                        last.kind.empty() ? plain(last.reason) : last.kind);
    break;
  }
  if (culprit.empty() && !seen.empty()) text += fmt::format("{} is not in the log\n", plain(at));
  if (auto written = out(text); !written) return written;
  const auto happened = events(log, std::max(0.0, end_s - 60), end_s + 1);
  if (!happened) return happened.error();
  for (const auto& line : *happened) {
    if (auto written = out("in the last minute: " + line + "\n"); !written) return written;
  }
  if (!culprit.empty()) {
    Filter filter;
    filter.actor = culprit;
    filter.last = 12;
    if (auto written = out(fmt::format("what {} did last:\n", plain(culprit))); !written) return written;
    const auto shown = show(log, filter, false, out);
    if (!shown) return shown.error();
  }
  return {};
}

}  // namespace thalweg::log
