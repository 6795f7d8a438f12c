#include "tools/cli/display.hpp"

#include "tools/cli/progress.hpp"
#include "tools/cli/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace thalweg::cli {
namespace {

constexpr double redraw_every_s = 0.1;
constexpr double line_every_s = 2.0;
constexpr std::string_view erase_line = "\r\033[K";

template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <class... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

/// Paints the inside of the bar green.
std::string painted(std::string line) {
  const std::size_t open = line.find('[');
  const std::size_t close = line.find(']');
  if (open == std::string::npos || close == std::string::npos) return line;
  line.insert(close, "\033[0m");
  line.insert(open + 1, "\033[32m");
  return line;
}

}  // namespace

Display::Display(const Config& config, DisplayOptions options)
    : config_(config), options_(std::move(options)) {}

void Display::show(const RunEvent& event) {
  if (const auto* started = std::get_if<Started>(&event); started && !started->warning.empty()) {
    const std::lock_guard lock(mutex_);
    add_line(started->warning);  // also when quiet
  }
  if (options_.detail == Detail::quiet) return;
  const std::lock_guard lock(mutex_);
  std::visit(Overloaded{[this](const Started& started) { begin(started); },
                        [this](const Progressed& progressed) { progress(progressed); },
                        [this](const Evaluated& evaluated) { evaluation(evaluated); },
                        [this](const WorkerLost& lost) { worker_lost(lost); },
                        [this](const WorkerJoined& joined) { worker_joined(joined); },
                        [this](const RunPaused& paused) { pause(paused); },
                        [this](const Checkpointed& checkpointed) { checkpoint(checkpointed); },
                        [this](const Ended&) { end_line(); }},
             event);
}

void Display::note(std::string_view text) {
  const std::lock_guard lock(mutex_);
  add_line(text);
}

void Display::finish() {
  const std::lock_guard lock(mutex_);
  end_line();
}

void Display::begin(const Started& started) {
  started_ = started;
  add_line(start_line(config_, started));
  if (!started.http.empty()) add_line("look at it at http://" + started.http + "/");
  if (started.resumed_from) {
    add_line(fmt::format("going on from version {}; not restored: {}", human_count(*started.resumed_from),
                         started.not_restored));
  }
}

void Display::progress(const Progressed& progressed) {
  progressed_ = progressed;
  // What an earlier process trained took none of this one's time.
  if (started_.resumed_from && !resumed_at_) resumed_at_ = progressed;
  show_progress(progressed.wall_s);
}

void Display::evaluation(const Evaluated& evaluated) {
  evaluated_ = evaluated;
  if (options_.terminal.live && options_.detail != Detail::verbose) {
    show_progress(evaluated.wall_s);
  } else {
    add_line(fmt::format("epoch {}: test accuracy {}, loss {:.4f}, after {}", human_epochs(evaluated.epoch),
                         human_percent(evaluated.accuracy), evaluated.loss, human_seconds(evaluated.wall_s)));
  }
}

void Display::worker_lost(const WorkerLost& lost) {
  const char* workers = lost.workers_left == 1 ? "worker is" : "workers are";
  add_line(fmt::format("{} is lost: {}: {} {} left", lost.worker, lost.why, lost.workers_left, workers));
}

void Display::worker_joined(const WorkerJoined& joined) {
  const char* workers = joined.workers == 1 ? "worker" : "workers";
  add_line(fmt::format("{} has joined: {} {}", joined.worker, joined.workers, workers));
}

void Display::pause(const RunPaused& paused) {
  const bool over = paused.workers >= paused.wanted;
  add_line(fmt::format("{}: {}/{} workers", over ? "goes on" : "paused", paused.workers, paused.wanted));
}

void Display::checkpoint(const Checkpointed& checkpointed) {
  if (!checkpointed.failure.empty()) {
    add_line(fmt::format("no checkpoint of version {}: {}: training goes on", checkpointed.version,
                         checkpointed.failure));
  } else if (options_.detail == Detail::verbose) {
    add_line(fmt::format("checkpoint of version {}, after {}", checkpointed.version,
                         human_seconds(checkpointed.wall_s)));
  }
}

/// Unless it was done a moment ago. A terminal sees the first progress at once; elsewhere short runs need
/// none.
void Display::show_progress(double wall_s) {
  const bool live = options_.terminal.live;
  const bool first = live && !shown_s_;
  if (!first && wall_s < shown_s_.value_or(0) + (live ? redraw_every_s : line_every_s)) return;
  shown_s_ = wall_s;
  if (live) {
    redraw();
  } else {
    add_line(current_line(std::string::npos));
  }
}

void Display::end_line() {
  if (line_open_) {
    // The last state stays on the screen, whatever was skipped to spare the terminal.
    redraw();
    options_.write("\n");
  }
  line_open_ = false;
}

void Display::redraw() {
  // The last column stays free: a terminal that wraps there would leave a line behind at every redraw.
  const std::size_t width = std::max<std::size_t>(options_.width(), 2) - 1;
  std::string line = current_line(width);
  if (options_.terminal.colour) line = painted(std::move(line));
  options_.write(std::string(erase_line) + line);
  line_open_ = true;
}

void Display::add_line(std::string_view text) {
  std::string out = line_open_ ? std::string(erase_line) : std::string();
  out += text;
  out += '\n';
  options_.write(out);
  if (std::exchange(line_open_, false)) redraw();
}

std::string Display::current_line(std::size_t width) const {
  ProgressView view;
  view.bar = options_.terminal.live;
  view.epoch = progressed_.epoch;
  view.samples_per_s = progressed_.samples_per_s;
  view.loss = progressed_.loss;
  if (started_.budget_samples > 0) {
    view.share = static_cast<double>(progressed_.samples) / static_cast<double>(started_.budget_samples);
  }
  view.epochs = static_cast<double>(config_.train.epochs);
  if (config_.train.steps > 0 && started_.train_samples > 0) {
    view.epochs = static_cast<double>(started_.budget_samples) / static_cast<double>(started_.train_samples);
  }
  if (evaluated_) view.accuracy = evaluated_->accuracy;
  const Progressed before = resumed_at_.value_or(Progressed{});
  if (view.share < 1 && progressed_.samples > before.samples) {
    const auto left = static_cast<double>(started_.budget_samples - progressed_.samples);
    view.left_s = (progressed_.wall_s - before.wall_s) * left /
                  static_cast<double>(progressed_.samples - before.samples);
  }
  return progress_line(view, width);
}

}  // namespace thalweg::cli
