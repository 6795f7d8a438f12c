#pragma once

#include "tools/log/output.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// What can be asked of a message log. Each answers from the log alone, whether its run goes on, has ended or
/// was killed.
namespace thalweg::log {

/// Which records `show` and `export` take; what is empty takes all.
struct Filter {
  std::string actor;   ///< "w3"; of any node
  std::string node;    ///< "node-1"
  std::string kind;    ///< "contribution"
  std::string type;    ///< "message", "decision", "wait"
  std::string reason;  ///< in which this text stands
  std::optional<std::int64_t> round, iteration, bytes_min;
  std::optional<double> from_s, to_s;       ///< since the log's first record
  std::optional<std::int64_t> after;        ///< row of the index; for following
  std::optional<std::int64_t> limit, last;  ///< the first so many; the last so many
};

/// Nodes, their actors, how many records, from when to when.
Status list(const journal::RunLog& log, bool json, const Out& out);

/// Records in order, a line each. Returns the last row that was shown.
Result<std::int64_t> show(const journal::RunLog& log, const Filter& filter, bool json, const Out& out);

/// Where a message comes from, and what came of it: up its causes to the first, down to all that it caused.
/// Fails: `not_found`.
Status trace(const journal::RunLog& log, std::string_view id, const Out& out);

/// The critical path of a round, who waited for whom, and what was out of the ordinary. Fails: `not_found`.
Status why_round(const journal::RunLog& log, std::int64_t round, const Out& out);
/// The same of the round in which the run's so-manieth iteration was committed.
Status why_iteration(const journal::RunLog& log, std::int64_t iteration, const Out& out);
/// Whom everything waits for at the end of the log, and what that one did last.
Status why_now(const journal::RunLog& log, const Out& out);

/// Counts, bytes and times by kind and actor; of each worker what it did with its time; who is a straggler;
/// staleness.
Status stats(const journal::RunLog& log, const Out& out);

/// The first message of the root, and of each actor that both have, that differs.
/// Returns whether there was none.
Result<bool> diff(const journal::RunLog& one, const journal::RunLog& other, const Out& out);

/// A trace that ui.perfetto.dev opens (Chrome's trace event format, JSON): node = process, actor = thread, a
/// step on a device beside it, arrows from causes.
Status write_perfetto(const journal::RunLog& log, const Filter& filter, const Out& out);
/// RFC 4180, with a header.
Status write_csv(const journal::RunLog& log, const Filter& filter, const Out& out);

/// One page that needs nothing but itself: lanes by actor over time. `metrics`: the run's metrics.csv, drawn
/// below them; empty: none.
Status write_timeline(const journal::RunLog& log, const std::string& title, const std::string& metrics,
                      const Out& out);

}  // namespace thalweg::log
