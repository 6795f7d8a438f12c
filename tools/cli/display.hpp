#pragma once

#include "tools/cli/terminal.hpp"

#include <thalweg/config.hpp>
#include <thalweg/run_event.hpp>

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

/// Shows a run as it goes, on stderr. Between the cluster, which calls `show` on one of its threads, and the
/// terminal; the thread that waits for signals writes its notes here too, so that lines never mix.
namespace thalweg::cli {

enum class Detail { quiet, normal, verbose };

struct DisplayOptions {
  Terminal terminal;
  Detail detail = Detail::normal;
  std::function<void(std::string_view)> write = print_progress;
  std::function<std::size_t()> width = terminal_width;
};

class Display {
 public:
  Display(const Config& config, DisplayOptions options);

  /// On a terminal one line is redrawn, at most ten times a second; elsewhere a line is added, at most one
  /// every two seconds and one per evaluation. Any thread.
  void show(const RunEvent& event);

  /// A line of its own, also when quiet. Any thread.
  void note(std::string_view text);

  /// Ends the redrawn line, so that what is printed next begins a line. For a run that ended without `Ended`.
  void finish();

 private:
  void begin(const Started& started);
  void progress(const Progressed& progressed);
  void evaluation(const Evaluated& evaluated);
  void worker_lost(const WorkerLost& lost);
  void worker_joined(const WorkerJoined& joined);
  void pause(const RunPaused& paused);
  void checkpoint(const Checkpointed& checkpointed);
  void show_progress(double wall_s);
  void redraw();
  void end_line();
  void add_line(std::string_view text);
  [[nodiscard]] std::string current_line(std::size_t width) const;

  const Config config_;
  const DisplayOptions options_;
  std::mutex mutex_;  ///< guards everything below
  Started started_;
  Progressed progressed_;
  std::optional<Progressed> resumed_at_;  ///< the first after a resumption
  std::optional<Evaluated> evaluated_;
  std::optional<double> shown_s_;  ///< when the last progress was shown, in the run's own time
  bool line_open_ = false;         ///< a redrawn line stands on the terminal
};

}  // namespace thalweg::cli
