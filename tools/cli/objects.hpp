#pragma once

#include "gpu/device.hpp"

#include <thalweg/model.hpp>

#include <string>

/// What `--json` prints, for the commands whose results are no Summary. One line each; `schema` is 1.
namespace thalweg::cli {

/// The result of `thalweg eval`.
struct Evaluation {
  std::string folder, model, data;
  Score score;

  [[nodiscard]] double accuracy() const;  ///< 0..1
  [[nodiscard]] double loss() const;      ///< mean per sample
};

/// {"folder", "model", "data", "accuracy", "loss", "correct", "samples", "schema"}
std::string evaluation_json(const Evaluation& evaluation);

/// {"devices": [{"name", "hardware", "library", "cores", "memory_bytes"}], "absent": [...], "schema"}
std::string devices_json(const gpu::DeviceReport& report);

}  // namespace thalweg::cli
