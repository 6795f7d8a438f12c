#include "tools/cli/terminal.hpp"

#include "runtime/files/descriptor.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>

namespace thalweg::cli {
namespace {

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

}  // namespace

Status print_result(std::string_view text) {
  if (const int reason = write_all(STDOUT_FILENO, text); reason != 0) {
    return Error{ErrorCode::io, fmt::format("cannot write to stdout: {}", std::strerror(reason))};
  }
  return {};
}

int report_error(const Error& error) {
  print_progress("thalweg: " + error.text + "\n");
  return exit_code_of(error.code);
}

Terminal look_at_terminal() {
  const char* kind = std::getenv("TERM");
  Terminal terminal;
  terminal.live = ::isatty(STDERR_FILENO) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
  terminal.colour = terminal.live && !is_set("NO_COLOR");
  return terminal;
}

std::size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

void print_progress(std::string_view text) { write_all(STDERR_FILENO, text); }

}  // namespace thalweg::cli
