#include "tools/launch/launcher.hpp"

#include "runtime/files/descriptor.hpp"
#include "runtime/time/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace thalweg::launch {
namespace {

constexpr std::array stop_signals = {SIGINT, SIGTERM, SIGHUP};

/// Signals as something to read, while it lives. What this process was told to ignore stays ignored, as
/// nohup wants it.
class SignalReader {
 public:
  SignalReader() {
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGCHLD);
    for (const int signal : stop_signals) {
      struct sigaction now {};
      if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) continue;
      sigaddset(&wanted, signal);
    }
    // Were it ignored, children would be gone before anybody could ask how they ended.
    struct sigaction plain {};
    plain.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &plain, &child_before_);
    sigprocmask(SIG_BLOCK, &wanted, &mask_before_);
    fd_ = Descriptor(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~SignalReader() {
    sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
    sigaction(SIGCHLD, &child_before_, nullptr);
  }
  SignalReader(const SignalReader&) = delete;
  SignalReader& operator=(const SignalReader&) = delete;

  [[nodiscard]] const Descriptor& fd() const { return fd_; }

  /// The next signal that has come; nothing: no more.
  [[nodiscard]] std::optional<int> next() const {
    signalfd_siginfo info{};
    if (::read(fd_.get(), &info, sizeof(info)) != sizeof(info)) return std::nullopt;
    return static_cast<int>(info.ssi_signo);
  }

 private:
  sigset_t mask_before_{};
  struct sigaction child_before_ {};
  Descriptor fd_;
};

/// Forgets what has been told about: only that something changed counts.
void drain(const Descriptor& watch) {
  std::array<char, 4096> events{};
  while (::read(watch.get(), events.data(), events.size()) > 0) {
  }
}

class Launcher {
 public:
  Launcher(const Crew& crew, OversightOptions options)
      : crew_(crew), oversight_(std::move(options)), running_(crew.nodes.size() + 1, 0) {}
  /// Whatever went wrong, nobody is left behind.
  ~Launcher() {
    for (const pid_t process : running_) {
      if (process == 0) continue;
      ::kill(process, SIGKILL);
      ::waitpid(process, nullptr, 0);
    }
  }
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  Result<int> run() {
    const Descriptor watch(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (!watch.open() || !signals_.fd().open()) {
      return Error{ErrorCode::failed, fmt::format("cannot watch processes: {}", std::strerror(errno))};
    }
    if (::inotify_add_watch(watch.get(), crew_.folder.c_str(), IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE) <
        0) {
      return Error{ErrorCode::io,
                   fmt::format("cannot watch {}: {}", crew_.folder.string(), std::strerror(errno))};
    }
    follow(oversight_.begin(clock_.now()));
    while (!oversight_.done()) {
      if (Status waited = wait_for_something(watch); !waited) return waited.error();
      drain(watch);
      while (const std::optional<int> signal = signals_.next()) {
        if (*signal != SIGCHLD) follow(oversight_.stop(clock_.now(), *signal));
      }
      look_for_address();
      look_for_ends();
      follow(oversight_.pass(clock_.now()));
    }
    return oversight_.exit_code();
  }

 private:
  Status wait_for_something(const Descriptor& watch) {
    std::array<pollfd, 2> fds = {pollfd{signals_.fd().get(), POLLIN, 0}, pollfd{watch.get(), POLLIN, 0}};
    timespec left{};
    const auto next = oversight_.next();
    if (next) {
      using namespace std::chrono;
      const auto time = std::max(*next - clock_.now(), nanoseconds(0));
      const auto whole = floor<std::chrono::seconds>(time);
      left = {static_cast<time_t>(whole.count()), static_cast<long>((time - whole).count())};
    }
    if (::ppoll(fds.data(), fds.size(), next ? &left : nullptr, nullptr) < 0 && errno != EINTR) {
      return Error{ErrorCode::failed, fmt::format("cannot wait for processes: {}", std::strerror(errno))};
    }
    return {};
  }

  void look_for_address() {
    if (listens_ || running_[0] == 0) return;
    const std::optional<std::string> address = crew_.address(running_[0]);
    if (!address) return;
    listens_ = true;
    address_ = *address;
    follow(oversight_.listens(clock_.now()));
  }

  void look_for_ends() {
    for (Member member = 0; member < running_.size(); ++member) {
      if (running_[member] == 0) continue;
      const std::optional<Ending> how = look_for_end(running_[member]);
      if (!how) continue;
      const pid_t process = std::exchange(running_[member], 0);
      follow(oversight_.ended(clock_.now(), member, process, *how));
    }
  }

  void follow(const Orders& orders) {
    for (const std::string& line : orders.lines) crew_.say(line);
    for (const auto& [member, signal] : orders.signals) {
      if (running_[member] != 0) ::kill(running_[member], signal);
    }
    for (const Member member : orders.starts) begin(member);
  }

  void begin(Member member) {
    if (member == 0) listens_ = false;
    const Result<pid_t> process = start(command_of(member));
    if (process) {
      running_[member] = *process;
      return;
    }
    crew_.say(process.error().text);
    follow(oversight_.ended(clock_.now(), member, 0, Ending{1, 0}));
  }

  [[nodiscard]] Command command_of(Member member) const {
    if (member != 0) return crew_.nodes[member - 1].command(address_);
    return address_.empty() ? crew_.root : crew_.root_again(address_);
  }

  const Crew& crew_;
  const SteadyClock clock_;
  const SignalReader signals_;
  Oversight oversight_;
  std::vector<pid_t> running_;  ///< by member; 0: it does not run
  std::string address_;         ///< of the root, as it first was
  bool listens_ = false;
};

}  // namespace

Result<int> run(const Crew& crew, OversightOptions options) {
  options.nodes.clear();
  for (const NodeStart& node : crew.nodes) options.nodes.push_back(node.name);
  return Launcher(crew, std::move(options)).run();
}

}  // namespace thalweg::launch
