#pragma once

#include "actors/registrar.hpp"

#include <thalweg/run_event.hpp>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

/// How a run of several nodes stands, for whoever asks while it goes on.
namespace thalweg::actors {

/// What the events of a run have said so far. Any thread.
class RunStatus {
 public:
  struct Now {
    std::string run, method, model;
    std::uint32_t term = 0;
    std::optional<Progressed> progress;
    std::optional<Evaluated> evaluated;
    std::optional<std::uint64_t> checkpoint;  ///< the newest version that is on the disk
    std::size_t workers = 0;
    std::uint64_t workers_lost = 0, workers_joined = 0;
    std::optional<RunPaused> paused;  ///< it waits for workers
    std::string ended;                ///< how; empty: it goes on
  };

  void begin(const Summary& summary, std::uint32_t term);
  void hear(const RunEvent& event);
  [[nodiscard]] Now now() const;

 private:
  mutable std::mutex mutex_;
  Now now_;
};

/// One JSON object on one line: the fields are listed in the README under `thalweg status`.
/// `here`: who waits on the root's own node. `registrar`: on its own thread; null: there are no other nodes.
std::string status_json(const RunStatus& run, const RegistrarState* registrar, const std::vector<Wait>& here);

/// The same figures for Prometheus (text format 0.0.4). `here`: as above.
std::string metrics_text(const RunStatus& run, const std::vector<Wait>& here);

/// The page that shows them as the run goes on: one file that asks for /status.json.
std::string live_page();

}  // namespace thalweg::actors
