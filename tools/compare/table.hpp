#pragma once

#include "tools/compare/result.hpp"
#include "tools/compare/statistics.hpp"

#include <cstddef>
#include <string>
#include <vector>

/// The table of a comparison: a row per contestant, a column per figure. Made once, shown twice: as text on
/// stdout and in the page.
namespace thalweg::compare {

struct Column {
  std::string name;                ///< "accuracy"
  std::string unit;                ///< "mean ± spread"; may be empty
  std::vector<std::string> cells;  ///< one for each contestant
};

/// The columns, the contestants' names first.
std::vector<Column> table_columns(const Comparison& comparison, const std::vector<Figures>& figures,
                                  double target);

/// The columns as text, in as many blocks side by side as `width` columns of a terminal ask for; each block
/// begins with the names.
std::string table_text(const std::vector<Column>& columns, std::size_t width);

/// What is to be known about the figures, a sentence each: equal work, own settings, what did not end well,
/// what the spread and the time are.
std::vector<std::string> table_notes(const Comparison& comparison, const std::vector<Figures>& figures,
                                     double target);

/// Whether speeds, links or both were emulated.
bool is_emulated(const Comparison& comparison);

/// "88.20 %", or "an unknown accuracy".
std::string target_words(double target);

}  // namespace thalweg::compare
