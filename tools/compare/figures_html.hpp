#pragma once

#include "tools/compare/chart.hpp"
#include "tools/compare/result.hpp"
#include "tools/compare/statistics.hpp"

#include <string>
#include <vector>

/// The figures of the page, each with its heading, legend and caption.
namespace thalweg::compare {

/// How contestant `index` is drawn. One with equal settings has the colour of its method, and dashes; so has
/// the ninth colour, which is the first one again.
Look look_of(const Comparison& comparison, std::size_t index);

/// Loss and accuracy, against samples and against time.
std::string curves_html(const Comparison& comparison);

/// Time to the target and bytes per sample.
std::string bars_html(const Comparison& comparison, const std::vector<Figures>& figures, double target);

/// For each contestant, what share of the time each worker computed.
std::string workers_html(const Comparison& comparison, const std::vector<Figures>& figures);

/// For each contestant, how old the committed iterations were.
std::string staleness_html(const Comparison& comparison, const std::vector<Figures>& figures);

}  // namespace thalweg::compare
