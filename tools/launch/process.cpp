#include "tools/launch/process.hpp"

#include "runtime/files/descriptor.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace thalweg::launch {
namespace {

/// What a child needs, made before there is one: between fork and exec only system calls are allowed.
struct Prepared {
  std::vector<char*> arguments;
  Descriptor input, output;
  Descriptor failure;  ///< closed by exec; before, the reason is written to it
  pid_t parent = 0;
};

void set_signal(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigaction(signal, &action, nullptr);
}

[[noreturn]] void fail(const Prepared& prepared) {
  const int reason = errno;
  // Should even this fail, the exit code says as much.
  [[maybe_unused]] const ssize_t written = ::write(prepared.failure.get(), &reason, sizeof(reason));
  _exit(127);
}

[[noreturn]] void become(const char* program, const Prepared& prepared) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail(prepared);
  if (getppid() != prepared.parent) _exit(127);  // it ended before the line above
  for (const int signal : {SIGINT, SIGHUP}) set_signal(signal, SIG_IGN);
  for (const int signal : {SIGTERM, SIGCHLD}) set_signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (dup2(prepared.input.get(), STDIN_FILENO) < 0) fail(prepared);
  if (prepared.output.open()) {
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
      if (dup2(prepared.output.get(), fd) < 0) fail(prepared);
    }
  }
  execv(program, prepared.arguments.data());
  fail(prepared);
}

Error cannot(std::string_view what, const std::filesystem::path& file, int reason) {
  return {ErrorCode::io, fmt::format("cannot {} {}: {}", what, file.string(), std::strerror(reason))};
}

}  // namespace

std::string Ending::text() const {
  return signal != 0 ? fmt::format("was killed by signal {}", signal)
                     : fmt::format("ended with exit code {}", code);
}

Result<pid_t> start(const Command& command) {
  Prepared prepared;
  prepared.parent = getpid();
  std::vector<std::string> texts = {command.program.filename().string()};
  texts.insert(texts.end(), command.arguments.begin(), command.arguments.end());
  for (std::string& text : texts) prepared.arguments.push_back(text.data());
  prepared.arguments.push_back(nullptr);
  prepared.input = Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!prepared.input.open()) return cannot("open", "/dev/null", errno);
  if (!command.output.empty()) {
    constexpr mode_t for_all = 0666;
    prepared.output =
        Descriptor(::open(command.output.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, for_all));
    if (!prepared.output.open()) return cannot("write", command.output, errno);
  }
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return cannot("run", command.program, errno);
  const Descriptor told(ends[0]);
  prepared.failure = Descriptor(ends[1]);

  const pid_t child = ::fork();
  if (child < 0) return cannot("run", command.program, errno);
  if (child == 0) become(command.program.c_str(), prepared);
  prepared.failure = Descriptor();  // so that reading ends when the child has closed its own
  int reason = 0;
  ssize_t count = 0;
  do {
    count = ::read(told.get(), &reason, sizeof(reason));
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return child;
  ::waitpid(child, nullptr, 0);
  return cannot("run", command.program, reason);
}

std::optional<Ending> look_for_end(pid_t process) {
  int status = 0;
  if (::waitpid(process, &status, WNOHANG) != process) return std::nullopt;
  if (WIFSIGNALED(status)) return Ending{0, WTERMSIG(status)};
  return Ending{WEXITSTATUS(status), 0};
}

}  // namespace thalweg::launch
