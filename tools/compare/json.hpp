#pragma once

#include "tools/compare/result.hpp"
#include "tools/compare/statistics.hpp"

#include <string>
#include <vector>

namespace thalweg::compare {

/// compare.json: all that was found out, on one line: {"schema", "version", "job", "job_toml", "emulated",
/// "seeds", "target", "samples": {...}, "methods": [figures of each contestant], "runs": [figures and curves
/// of each run]}. Numbers that are not known are null.
std::string comparison_json(const Comparison& comparison, const std::vector<Figures>& figures, double target);

}  // namespace thalweg::compare
