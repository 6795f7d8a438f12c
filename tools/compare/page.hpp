#pragma once

#include "tools/compare/result.hpp"
#include "tools/compare/statistics.hpp"

#include <string>
#include <vector>

namespace thalweg::compare {

/// compare.html: one page that needs nothing but itself. The table, then curves, bars and histograms as SVG;
/// a few lines of script show values under the pointer. Follows the reader's light or dark scheme.
std::string page_html(const Comparison& comparison, const std::vector<Figures>& figures, double target);

}  // namespace thalweg::compare
