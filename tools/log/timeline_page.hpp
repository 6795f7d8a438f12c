#pragma once

#include <string_view>

/// The parts of the timeline page that are the same for every run.
namespace thalweg::log {

/// Light and dark by the reader's choice; colours that people with any colour vision tell apart.
std::string_view timeline_style();
/// Draws the lanes on a canvas from `const DATA`, which stands before it.
std::string_view timeline_script();

}  // namespace thalweg::log
