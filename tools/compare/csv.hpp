#pragma once

#include "tools/compare/result.hpp"

#include <string>

namespace thalweg::compare {

/// compare.csv: a row for each run, in the order they ran; fields as RFC 4180 quotes them, unknown numbers
/// empty. Bytes have a column for each level and way; `target` is the accuracy of the time to it.
std::string csv_text(const Comparison& comparison, double target);

}  // namespace thalweg::compare
