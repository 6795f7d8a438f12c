#pragma once

#include "tools/compare/result.hpp"

namespace thalweg::compare {

/// Two seeds of ssgd and of inhad(2) with settings of its own and with equal ones; the last run of the
/// equal one has diverged. Figures are round, so that tests can say what comes of them.
Comparison made_up_comparison();

}  // namespace thalweg::compare
