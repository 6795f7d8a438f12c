#pragma once

#include <string>
#include <vector>

namespace thalweg {

/// `thalweg train` on data that a small network learns within a second, into `out`; then `more` flags.
inline std::vector<std::string> small_job(const std::string& out, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"train", "--out",    out, "--data", "synthetic", "--model",
                                        "mlp",   "--epochs", "2", "--lr",   "0.01"};
  for (const char* setting : {"data.samples=2048", "data.classes=4", "data.noise=6", "model.hidden=[32]"}) {
    arguments.insert(arguments.end(), {"--set", setting});
  }
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace thalweg
