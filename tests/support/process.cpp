#include "tests/support/process.hpp"

#include "runtime/check.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace thalweg::testing {
namespace {

struct Channel {
  int ours = -1;
  int childs = -1;
};

Channel make_pipe() {
  std::array<int, 2> ends{};
  THALWEG_CHECK(::pipe2(ends.data(), O_CLOEXEC) == 0, "a pipe can be made");
  return {ends[0], ends[1]};
}

Channel make_terminal() {
  Channel channel;
  const winsize size{.ws_row = 25, .ws_col = 100, .ws_xpixel = 0, .ws_ypixel = 0};
  THALWEG_CHECK(::openpty(&channel.ours, &channel.childs, nullptr, nullptr, &size) == 0,
                "a terminal can be made");
  for (const int fd : {channel.ours, channel.childs}) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  return channel;
}

void become_program(const char* program, const std::vector<std::string>& arguments,
                    const ProcessOptions& options, int out, int err) {
  ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  if (::chdir(options.folder.c_str()) != 0) _exit(127);
  for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<std::string> texts = arguments;
  std::vector<char*> pointers = {const_cast<char*>("thalweg")};
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  ::execv(program, pointers.data());
  _exit(127);
}

}  // namespace

Process::Process(const std::vector<std::string>& arguments, ProcessOptions options)
    : options_(std::move(options)), deadline_(std::chrono::steady_clock::now() + options_.limit) {
  const char* program = options_.program.empty() ? std::getenv("THALWEG_PROGRAM") : options_.program.c_str();
  THALWEG_CHECK(program != nullptr, "THALWEG_PROGRAM names the program under test");
  const Channel out = make_pipe();
  const Channel err = options_.terminal ? make_terminal() : make_pipe();
  pid_ = ::fork();
  THALWEG_CHECK(pid_ >= 0, "a process can be forked");
  if (pid_ == 0) become_program(program, arguments, options_, out.childs, err.childs);
  ::close(out.childs);
  ::close(err.childs);
  out_fd_ = out.ours;
  err_fd_ = err.ours;
  if (options_.closed_stdout) ::close(std::exchange(out_fd_, -1));
  pid_fd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  THALWEG_CHECK(pid_fd_ >= 0, "the kernel tells when a process has ended");
}

Process::~Process() {
  if (!ended_) {
    send(SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  for (const int fd : {pid_fd_, out_fd_, err_fd_}) {
    if (fd >= 0) ::close(fd);
  }
}

void Process::send(int signal) const { ::kill(pid_, signal); }

void Process::read_some(int& fd, std::string& text) {
  std::array<char, 4096> bytes{};
  const ssize_t count = ::read(fd, bytes.data(), bytes.size());
  if (count > 0) {
    text.append(bytes.data(), static_cast<std::size_t>(count));
  } else if (count == 0 || errno != EINTR) {  // a terminal whose other side is gone reads as an error
    ::close(std::exchange(fd, -1));
  }
}

/// Waits for the next thing to happen and takes it in. False when nothing more will, or the limit has passed.
bool Process::pump() {
  if (out_fd_ < 0 && err_fd_ < 0 && ended_) return false;
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - std::chrono::steady_clock::now());
  if (left.count() <= 0) return false;
  // Descriptors of -1 are passed over by poll.
  std::array<pollfd, 3> fds = {pollfd{out_fd_, POLLIN, 0}, pollfd{err_fd_, POLLIN, 0},
                               pollfd{ended_ ? -1 : pid_fd_, POLLIN, 0}};
  if (::poll(fds.data(), fds.size(), static_cast<int>(left.count())) < 0) return errno == EINTR;
  if (fds[0].revents != 0) read_some(out_fd_, finished_.out);
  if (fds[1].revents != 0) read_some(err_fd_, finished_.err);
  if (fds[2].revents != 0) {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    finished_.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    ended_ = true;
  }
  return true;
}

bool Process::wait_for_err(std::string_view text) {
  while (finished_.err.find(text) == std::string::npos) {
    if (!pump()) return false;
  }
  return true;
}

Finished Process::wait() {
  while (pump()) {
  }
  if (!ended_) {
    finished_.timed_out = true;
    deadline_ += std::chrono::seconds(5);
    send(SIGKILL);
    while (pump()) {
    }
  }
  return finished_;
}

Finished run_program(const std::vector<std::string>& arguments, ProcessOptions options) {
  return Process(arguments, std::move(options)).wait();
}

}  // namespace thalweg::testing
