#include "tools/log/path.hpp"

#include "runtime/journal/run_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace thalweg::log {
namespace {

constexpr std::size_t chain_max = 1000;
constexpr std::size_t results_shown = 200;

}  // namespace

Result<std::vector<Link>> find_links(const journal::RunLog& log, const std::string& which,
                                     std::initializer_list<std::int64_t> numbers) {
  // The inner query finds rows by an index, the view puts names to them.
  auto asked = ask(
      log,
      "SELECT r.id, r.cause, l.at_s, l.node, l.actor, l.sender, l.kind, l.id, l.reason, l.span_s, l.queue_s, "
      "l.took_s, l.round, l.version, l.samples FROM log AS l JOIN records AS r ON r.n = l.n WHERE l.n IN (" +
          which + ") ORDER BY l.hlc, l.n",
      numbers);
  if (!asked) return asked.error();
  std::vector<Link> links;
  while (true) {
    const auto row = asked->step();
    if (!row) return row.error();
    if (!*row) return links;
    Link link;
    link.id = asked->integer(0);
    link.cause = asked->integer(1);
    link.at_s = asked->real(2);
    link.node = asked->text(3);
    link.actor = asked->text(4);
    link.sender = asked->text(5);
    link.kind = asked->text(6);
    link.id_text = asked->text(7);
    link.reason = asked->text(8);
    link.span_s = asked->real(9);
    link.queue_s = asked->real(10);
    link.took_s = asked->real(11);
    const auto number = [&](int column) {
      return asked->is_null(column) ? std::nullopt : std::optional(asked->integer(column));
    };
    link.round = number(12);
    link.version = number(13);
    link.samples = number(14);
    links.push_back(std::move(link));
  }
}

Result<std::optional<Link>> find_link(const journal::RunLog& log, std::int64_t id) {
  auto links = find_links(log, "SELECT n FROM records WHERE id = ? AND type = 1", {id});
  if (!links) return links.error();
  if (links->empty()) return std::optional<Link>();
  return std::optional(std::move(links->front()));
}

Result<std::vector<Link>> chain_to(const journal::RunLog& log, const Link& last, double from_s) {
  std::vector<Link> chain{last};
  std::set<std::int64_t> seen{last.id};
  while (chain.size() < chain_max && chain.back().cause != 0 && seen.insert(chain.back().cause).second) {
    auto before = find_link(log, chain.back().cause);
    if (!before) return before.error();
    if (!*before || (*before)->at_s < from_s) break;
    chain.push_back(std::move(**before));
    // The root's parameters are where a round begins; what led to them is another round's.
    if (chain.back().kind == "parameters" && chain.back().sender == "root") break;
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

std::string link_text(const Link& link) {
  std::string text =
      fmt::format("{} -> {} {} [{}]", plain(link.sender), plain(link.actor), link.kind, link.id_text);
  if (link.round) text += fmt::format(" round {}", *link.round);
  if (link.version) text += fmt::format(" version {}", *link.version);
  if (link.span_s > 0) text += ", computed " + time_text(link.span_s);
  text += fmt::format(", queued {}, handled in {}", time_text(link.queue_s), time_text(link.took_s));
  if (!link.reason.empty()) text += ": " + plain(link.reason);
  return text;
}

namespace {

/// What was caused by `first` and how far from it, in no order. Where it only waited for others, in a round
/// that a later message closed, what came of that round.
Result<std::vector<std::pair<Link, std::size_t>>> results_of(const journal::RunLog& log, const Link& first) {
  std::vector<std::pair<Link, std::size_t>> open{{first, 0}}, results;
  std::set<std::int64_t> seen{first.id};
  bool committed = false;
  const auto follow = [&]() -> Status {
    while (!open.empty() && results.size() < results_shown) {
      const auto [parent, depth] = open.front();
      open.erase(open.begin());
      auto children = find_links(log, "SELECT n FROM records WHERE cause = ? AND type = 1", {parent.id});
      if (!children) return children.error();
      for (auto& child : *children) {
        // What follows a commit is everything; that its parameters are adopted is the end of a gradient's
        // way.
        if (parent.kind == "parameters" && child.kind != "parameters") continue;
        if (!seen.insert(child.id).second) continue;
        committed = committed || child.kind == "committed";
        results.emplace_back(child, depth + 1);
        open.emplace_back(child, depth + 1);
      }
    }
    return {};
  };
  if (auto followed = follow(); !followed) return followed.error();
  if (committed || !first.round || first.kind != "contribution") return results;
  auto commits = find_links(log,
                            "SELECT n FROM records WHERE round = ? AND type = 1 AND kind IN "
                            "(SELECT kind FROM kinds WHERE name = 'committed')",
                            {*first.round});
  if (!commits) return commits.error();
  for (const auto& commit : *commits) {
    auto closer = find_link(log, commit.cause);
    if (!closer) return closer.error();
    if (*closer) open.emplace_back(std::move(**closer), results.empty() ? 0 : results.back().second);
  }
  if (auto followed = follow(); !followed) return followed.error();
  return results;
}

}  // namespace

Status trace(const journal::RunLog& log, std::string_view id, const Out& out) {
  const auto number = journal::message_number(id);
  if (!number) {
    return Error{
        ErrorCode::invalid,
        fmt::format("{}: is no message: give an id as `thalweg log show` prints it, as n0.a9.12", plain(id))};
  }
  const auto found = find_link(log, *number);
  if (!found) return found.error();
  if (!*found) {
    return Error{
        ErrorCode::not_found,
        fmt::format("{}: the log has no such message: it was not handled, or it is older than the log", id)};
  }
  const auto chain = chain_to(log, **found);
  if (!chain) return chain.error();
  double before = chain->front().at_s;
  const auto line = [&](const Link& link, std::size_t depth) {
    const auto text =
        fmt::format("{:12.6f} {:>+10.3f} ms {}{}{}\n", link.at_s, (link.at_s - before) * 1e3,
                    std::string(2 * depth, ' '), link.id == *number ? "* " : "", link_text(link));
    before = link.at_s;
    return out(text);
  };
  for (const auto& link : *chain) {
    if (auto written = line(link, 0); !written) return written;
  }
  auto results = results_of(log, **found);
  if (!results) return results.error();
  std::stable_sort(results->begin(), results->end(),
                   [](const auto& a, const auto& b) { return a.first.at_s < b.first.at_s; });
  for (const auto& [link, depth] : *results) {
    if (auto written = line(link, depth); !written) return written;
  }
  if (results->size() >= results_shown) return out(fmt::format("and more: {} are shown\n", results_shown));
  return {};
}

}  // namespace thalweg::log
