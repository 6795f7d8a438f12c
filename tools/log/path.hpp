#pragma once

#include "tools/log/selection.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Messages as links of a chain of causes.
namespace thalweg::log {

struct Link {
  std::int64_t id = 0, cause = 0;
  double at_s = 0;  ///< handled, since the log's first record
  std::string node, actor, sender, kind, id_text, reason;
  double span_s = 0, queue_s = 0, took_s = 0;
  std::optional<std::int64_t> round, version, samples;
};

/// The message with this id; nothing: the log does not have it.
Result<std::optional<Link>> find_link(const journal::RunLog& log, std::int64_t id);
/// Those that a query gives; it names rows of `records` as "n".
Result<std::vector<Link>> find_links(const journal::RunLog& log, const std::string& which,
                                     std::initializer_list<std::int64_t> numbers = {});

/// From the root's parameters, or its first cause that the log has, down to `last`. `from_s`: what was
/// handled before is left out.
Result<std::vector<Link>> chain_to(const journal::RunLog& log, const Link& last, double from_s = 0);

/// "w3 -> g1 contribution [n0.a9.12], computed 41 ms, queued 12 us, handled in 3 us".
std::string link_text(const Link& link);

}  // namespace thalweg::log
