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
    std::optional<RunPaused> paused;  ///< it waits for workers
  };

  void begin(const Summary& summary, std::uint32_t term);
  void hear(const RunEvent& event);
  [[nodiscard]] Now now() const;

 private:
  mutable std::mutex mutex_;
  Now now_;
};

/// One JSON object on one line: the fields are listed in the README under `thalweg status`.
/// `here`: who waits on the root's own node. On the registrar's thread.
std::string status_json(const RunStatus& run, const RegistrarState& registrar, const std::vector<Wait>& here);

}  // namespace thalweg::actors
