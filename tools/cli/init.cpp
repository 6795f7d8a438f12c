#include "tools/cli/subcommands.hpp"
#include "tools/cli/terminal.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace thalweg::cli {
namespace {

/// Makes `file`, or leaves alone what is there: the system decides whether it exists at the moment it is
/// made.
Status write_new(const std::string& file, const std::string& text) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0 && errno == EEXIST) {
    return Error{ErrorCode::invalid,
                 fmt::format("{}: is there already: give another name, or - for stdout", file)};
  }
  if (fd < 0) return Error{ErrorCode::io, fmt::format("cannot write {}: {}", file, std::strerror(errno))};
  const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int reason = errno;
  if (::close(fd) == 0 && written) return {};
  ::unlink(file.c_str());
  return Error{ErrorCode::io, fmt::format("cannot write {}: {}", file, std::strerror(reason))};
}

}  // namespace

int run_init(const Arguments& arguments) {
  const Result<Config> config = load_config("", {});
  if (!config) return report_error(config.error());
  const std::string text = print_config(*config);
  const std::string file = arguments.positionals.empty() ? "job.toml" : arguments.positionals[0];
  const Status written = file == "-" ? print_result(text) : write_new(file, text);
  if (!written) return report_error(written.error());
  if (file != "-") print_progress(fmt::format("wrote {}; train it with: thalweg train {}\n", file, file));
  return 0;
}

}  // namespace thalweg::cli
