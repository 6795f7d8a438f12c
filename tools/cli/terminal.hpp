#pragma once

#include <thalweg/result.hpp>

#include <cstddef>
#include <string_view>

/// The only place that touches stdout, stderr and the terminal behind it. stdout holds results only;
/// everything else goes to stderr.
namespace thalweg::cli {

/// Writes a result to stdout.
/// Fails: `io` when it could not be written, as into a full disk or a closed pipe.
Status print_result(std::string_view text);

/// Writes "thalweg: TEXT" to stderr and returns the exit code of the error.
int report_error(const Error& error);

/// What stderr is.
struct Terminal {
  bool live = false;    ///< a terminal on which a line can be redrawn
  bool colour = false;  ///< and that wants colour: NO_COLOR (https://no-color.org) is empty
};
Terminal look_at_terminal();

/// Columns of the terminal right now; 80 when it does not say.
std::size_t terminal_width();

/// Writes to stderr, without buffering. What cannot be written there is lost: there is nobody to tell.
void print_progress(std::string_view text);

}  // namespace thalweg::cli
