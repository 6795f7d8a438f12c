#include "actors/run_folder.hpp"

#include "models/durable_file.hpp"
#include "runtime/time/clock.hpp"

#include <thalweg/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <span>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace thalweg::actors {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view metrics_header =
    "wall_s,epoch,samples,version,loss,accuracy,samples_per_s,staleness,bytes_up,bytes_down\n";

/// What a run leaves behind; a folder that holds one of these holds an earlier run.
constexpr std::array<std::string_view, 6> run_files = {"job.toml",     "root.json",         "metrics.csv",
                                                       "summary.json", "model.safetensors", "checkpoints"};

/// A file descriptor with one owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  [[nodiscard]] bool open() const { return fd_ >= 0; }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_ = -1;
};

Error cannot(std::string_view what, const fs::path& file, int reason) {
  const char* advice = reason == ENOSPC || reason == EDQUOT ? "free some space on that disk"
                                                            : "check the path and its permissions";
  return {ErrorCode::io,
          fmt::format("cannot {} {}: {}: {}", what, file.string(), std::strerror(reason), advice)};
}

Error taken(const fs::path& folder, std::string_view why) {
  return {ErrorCode::invalid,
          fmt::format("{}: {}: choose another --out, or remove it", folder.string(), why)};
}

/// Writes all of `text`, or returns the system's reason.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// `file` becomes `text`, or stays what it was.
Status replace_file(const fs::path& file, std::string_view text) {
  const std::array parts = {std::as_bytes(std::span(text))};
  return models::write_durably(file, parts);
}

/// "2026-03-01T12:30:05Z".
std::string iso_time(std::uint64_t wall_us) {
  const auto second = static_cast<std::time_t>(wall_us / 1'000'000);
  std::tm parts{};
  gmtime_r(&second, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

/// Makes the folder and says where it is. Only default names are counted up; a name that somebody gave is
/// taken as it is.
Result<fs::path> make_folder(const Config& config) {
  fs::path folder = config.run.out;
  if (folder.empty() && !config.run.name.empty()) folder = fs::path("runs") / config.run.name;
  std::error_code error;
  if (!folder.empty()) {
    fs::create_directories(folder, error);
    std::error_code unknown;
    if (fs::is_regular_file(folder, unknown)) return taken(folder, "is a file");
    if (error) return cannot("make the run folder", folder, error.value());
    return folder;
  }
  fs::create_directories("runs", error);
  if (error) return cannot("make the run folder", "runs", error.value());
  for (std::size_t number = 1;; ++number) {
    folder = fs::path("runs") / fmt::format("{}-{}", config.model.name, number);
    // Making it is the test whether it is free, so that two programs never agree on one folder.
    if (fs::create_directory(folder, error)) return folder;
    std::error_code unknown;
    if (error && !fs::exists(folder, unknown)) return cannot("make the run folder", folder, error.value());
  }
}

/// Refuses a folder with anything in it but a lock file.
Status check_empty(const fs::path& folder) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  std::string foreign;
  bool earlier = false;
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    if (name == "lock") continue;
    if (std::find(run_files.begin(), run_files.end(), name) != run_files.end()) earlier = true;
    if (foreign.empty() || name < foreign) foreign = name;
  }
  if (error) return cannot("read the run folder", folder, error.value());
  if (earlier) return taken(folder, "holds an earlier run");
  if (!foreign.empty()) return taken(folder, fmt::format("is no run folder, it holds {}", foreign));
  return {};
}

/// The lock is the kernel's, on an open file: it ends with the process, however that ends. The pid inside is
/// for whoever wants to know.
Result<Descriptor> take_lock(const fs::path& folder) {
  const fs::path file = folder / "lock";
  std::error_code error;
  // A folder of something else is refused before a lock file is put into it.
  if (!fs::exists(file, error)) {
    if (Status empty = check_empty(folder); !empty) return empty.error();
  }
  Descriptor lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!lock.open()) return cannot("write", file, errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return cannot("lock", file, errno);
    std::array<char, 32> text{};
    const ssize_t size = ::pread(lock.get(), text.data(), text.size(), 0);
    std::string pid(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    pid.erase(std::min(pid.find('\n'), pid.size()));
    return Error{ErrorCode::busy,
                 fmt::format("{}: in use by process {}: wait for it, or choose another --out",
                             folder.string(), pid.empty() ? "unknown" : pid)};
  }
  if (Status empty = check_empty(folder); !empty) return empty.error();
  if (::ftruncate(lock.get(), 0) != 0) return cannot("write", file, errno);
  if (const int reason = write_all(lock.get(), fmt::format("{}\n", ::getpid())); reason != 0) {
    return cannot("write", file, reason);
  }
  return lock;
}

}  // namespace

struct RunFolder::State {
  fs::path path;
  Descriptor lock;
  Descriptor metrics;
  off_t metrics_size = 0;  ///< bytes of whole rows

  Status append_metrics(std::string_view text);
  Status write_first_files(const Config& config, const std::string& run_id);
};

/// A row is there whole or not at all: after a short write the file is cut back to its last whole row.
Status RunFolder::State::append_metrics(std::string_view text) {
  if (const int reason = write_all(metrics.get(), text); reason != 0) {
    [[maybe_unused]] const int cut = ::ftruncate(metrics.get(), metrics_size);
    return cannot("write", path / "metrics.csv", reason);
  }
  metrics_size += static_cast<off_t>(text.size());
  return {};
}

Status RunFolder::State::write_first_files(const Config& config, const std::string& run_id) {
  if (Status job = replace_file(path / "job.toml", print_config(config)); !job) return job;
  const std::string root =
      fmt::format("{{\"run\": \"{}\", \"pid\": {}, \"started\": \"{}\", \"version\": \"{}\"}}\n", run_id,
                  ::getpid(), iso_time(SteadyClock().wall_us()), version());
  if (Status written = replace_file(path / "root.json", root); !written) return written;
  const fs::path table = path / "metrics.csv";
  metrics = Descriptor(::open(table.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666));
  if (!metrics.open()) return cannot("write", table, errno);
  return append_metrics(metrics_header);
}

RunFolder::RunFolder(std::unique_ptr<State> state) : state_(std::move(state)) {}
RunFolder::RunFolder(RunFolder&&) noexcept = default;
RunFolder& RunFolder::operator=(RunFolder&&) noexcept = default;
RunFolder::~RunFolder() = default;

Result<RunFolder> RunFolder::create(const Config& config, const std::string& run_id) {
  Result<fs::path> folder = make_folder(config);
  if (!folder) return folder.error();
  Result<Descriptor> lock = take_lock(*folder);
  if (!lock) return lock.error();

  auto state = std::make_unique<State>();
  state->path = *folder;
  state->lock = std::move(*lock);
  if (Status written = state->write_first_files(config, run_id); !written) {
    // No run began here, so the folder must not look as if one had.
    std::error_code ignored;
    for (const std::string_view file : run_files) fs::remove(*folder / file, ignored);
    return written.error();
  }
  return RunFolder(std::move(state));
}

const fs::path& RunFolder::path() const { return state_->path; }

Status RunFolder::add_metrics(const Progressed& progressed, const Evaluated* evaluated) {
  const std::string accuracy = evaluated != nullptr ? fmt::format("{:.6f}", evaluated->accuracy) : "";
  return state_->append_metrics(
      fmt::format("{:.3f},{:.4f},{},{},{:.6g},{},{:.1f},{:.3f},{},{}\n", progressed.wall_s, progressed.epoch,
                  progressed.samples, progressed.version, progressed.loss, accuracy, progressed.samples_per_s,
                  progressed.staleness, progressed.bytes_up, progressed.bytes_down));
}

Status RunFolder::save_model(std::span<const models::NamedTensor> tensors) {
  return models::save_safetensors(state_->path / "model.safetensors", tensors);
}

Status RunFolder::save_checkpoint(std::uint64_t version, std::span<const models::NamedTensor> tensors,
                                  const std::map<std::string, std::string>& metadata) {
  const fs::path folder = state_->path / "checkpoints";
  std::error_code error;
  fs::create_directory(folder, error);
  if (error) return cannot("make", folder, error.value());
  return models::save_safetensors(folder / fmt::format("version-{}.safetensors", version), tensors, metadata);
}

Status RunFolder::save_summary(const Summary& summary) {
  return replace_file(state_->path / "summary.json", summary_json(summary) + "\n");
}

}  // namespace thalweg::actors
