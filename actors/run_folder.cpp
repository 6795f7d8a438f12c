#include "actors/run_folder.hpp"

#include "actors/metrics_file.hpp"
#include "models/durable_file.hpp"
#include "models/file_error.hpp"
#include "runtime/files/descriptor.hpp"
#include "runtime/time/clock.hpp"

#include <thalweg/version.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <fcntl.h>
#include <fstream>
#include <optional>
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

/// What a run leaves behind; a folder that holds one of these holds an earlier run.
constexpr std::array<std::string_view, 6> run_files = {"job.toml",     "root.json",         "metrics.csv",
                                                       "summary.json", "model.safetensors", "checkpoints"};

using models::cannot;

Error taken(const fs::path& folder, std::string_view why) {
  return {ErrorCode::invalid,
          fmt::format("{}: {}: choose another --out, or remove it", folder.string(), why)};
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

/// Refuses a folder with anything in it but a lock file, and what is there before the run.
Status check_empty(const fs::path& folder) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  std::string foreign;
  bool earlier = false;
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    std::string name = entries->path().filename().string();
    if (name == "lock") continue;
    // A run that was killed before it had begun may leave half a file.
    if (name == "job.toml.partial") continue;
    if (name == "keys" || name == "log") continue;  // of the processes of this run
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
  return lock;
}

Status sign_lock(const Descriptor& lock, const fs::path& folder) {
  const int cut = ::ftruncate(lock.get(), 0) == 0 ? 0 : errno;
  const int reason = cut != 0 ? cut : write_all(lock.get(), fmt::format("{}\n", ::getpid()));
  if (reason != 0) return cannot("write", folder / "lock", reason);
  return {};
}

/// The lock of a folder in which no run has begun.
Result<Descriptor> take_new_lock(const fs::path& folder) {
  std::error_code error;
  // A folder of something else is refused before a lock file is put into it.
  if (!fs::exists(folder / "lock", error)) {
    if (Status empty = check_empty(folder); !empty) return empty.error();
  }
  auto lock = take_lock(folder);
  if (!lock) return lock;
  if (Status empty = check_empty(folder); !empty) return empty.error();
  if (Status written = sign_lock(*lock, folder); !written) return written.error();
  return lock;
}

/// What root.json says of the run. A file that cannot be read is that of a run without an id.
struct RunId {
  std::string id;
  std::uint32_t term = 0;
};

RunId read_root(const fs::path& file) {
  std::error_code unknown;
  if (!fs::is_regular_file(file, unknown)) return {};
  std::ifstream in(file);
  const auto json = nlohmann::json::parse(in, nullptr, false);
  if (!json.is_object()) return {};
  RunId root;
  if (const auto id = json.find("run"); id != json.end() && id->is_string()) root.id = id->get<std::string>();
  if (root.id.find_first_not_of("0123456789abcdef") != std::string::npos) root.id.clear();  // not ours
  root.term = 1;  // files of the first release have none
  if (const auto term = json.find("term");
      term != json.end() && term->is_number_unsigned() && *term < 1'000'000'000U) {
    root.term = term->get<std::uint32_t>();
  }
  return root;
}

constexpr std::string_view checkpoint_prefix = "version-";
constexpr std::string_view checkpoint_suffix = ".safetensors";

/// The version in the name of a checkpoint's file; nothing for other names.
std::optional<std::uint64_t> version_of(const fs::path& file) {
  const std::string name = file.filename().string();
  if (!name.starts_with(checkpoint_prefix) || !name.ends_with(checkpoint_suffix)) return std::nullopt;
  const char* begin = name.data() + checkpoint_prefix.size();
  const char* end = name.data() + name.size() - checkpoint_suffix.size();
  std::uint64_t version = 0;
  const auto read = std::from_chars(begin, end, version);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return version;
}

}  // namespace

struct RunFolder::State {
  fs::path path;
  RunId root;  ///< as root.json had it when the folder was opened
  Descriptor lock;
  MetricsFile metrics;

  Status write_first_files(const Config& config, const std::string& run_id, std::uint64_t term);
};

Status RunFolder::State::write_first_files(const Config& config, const std::string& run_id,
                                           std::uint64_t term) {
  if (Status job = replace_file(path / "job.toml", print_config(config)); !job) return job;
  const std::string identity = fmt::format(
      "{{\"run\": \"{}\", \"pid\": {}, \"started\": \"{}\", \"version\": \"{}\", \"term\": {}}}\n", run_id,
      ::getpid(), iso_time(SteadyClock().wall_us()), version(), term);
  return replace_file(path / "root.json", identity);
}

RunFolder::RunFolder(std::unique_ptr<State> state) : state_(std::move(state)) {}
RunFolder::RunFolder(RunFolder&&) noexcept = default;
RunFolder& RunFolder::operator=(RunFolder&&) noexcept = default;
RunFolder::~RunFolder() = default;

Result<fs::path> RunFolder::prepare(const Config& config) {
  Result<fs::path> folder = make_folder(config);
  if (!folder) return folder;
  if (Status empty = check_empty(*folder); !empty) return empty.error();
  return folder;
}

Result<RunFolder> RunFolder::create(const Config& config, const std::string& run_id) {
  Result<fs::path> folder = make_folder(config);
  if (!folder) return folder.error();
  Result<Descriptor> lock = take_new_lock(*folder);
  if (!lock) return lock.error();

  auto state = std::make_unique<State>();
  state->path = *folder;
  state->lock = std::move(*lock);
  state->root = {run_id, 1};
  Status written = state->write_first_files(config, run_id, 1);
  if (written) {
    auto metrics = MetricsFile::create(*folder / "metrics.csv");
    if (metrics) {
      state->metrics = std::move(*metrics);
      return RunFolder(std::move(state));
    }
    written = metrics.error();
  }
  // No run began here, so the folder must not look as if one had.
  std::error_code ignored;
  for (const std::string_view file : run_files) fs::remove(*folder / file, ignored);
  return written.error();
}

Result<RunFolder> RunFolder::reopen(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return Error{
        ErrorCode::not_found,
        fmt::format("{}: no such folder: give the run folder that thalweg train made", folder.string())};
  }
  if (!fs::exists(folder / "job.toml", error)) {
    return Error{ErrorCode::not_found,
                 fmt::format("{}: holds no job.toml, so no run has begun there: start it with --out {}",
                             folder.string(), folder.string())};
  }
  Result<Descriptor> lock = take_lock(folder);
  if (!lock) return lock.error();
  auto state = std::make_unique<State>();
  state->path = folder;
  state->lock = std::move(*lock);
  state->root = read_root(folder / "root.json");
  if (Status written = sign_lock(state->lock, folder); !written) return written.error();
  return RunFolder(std::move(state));
}

Result<std::vector<fs::path>> RunFolder::checkpoints() const {
  std::vector<std::pair<std::uint64_t, fs::path>> found;
  std::error_code error;
  const fs::path folder = state_->path / "checkpoints";
  fs::directory_iterator entries(folder, error);
  if (error == std::errc::no_such_file_or_directory) return std::vector<fs::path>();
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    std::error_code unknown;
    if (!entries->is_regular_file(unknown)) continue;
    if (const auto version = version_of(entries->path())) found.emplace_back(*version, entries->path());
  }
  if (error) return cannot("read", folder, error.value());
  std::sort(found.rbegin(), found.rend());
  std::vector<fs::path> files;
  for (auto& [version, file] : found) files.push_back(std::move(file));
  return files;
}

Status RunFolder::go_on(const Config& config, const std::string& run_id, std::uint64_t version) {
  std::error_code ignored;
  fs::directory_iterator entries(state_->path / "checkpoints", ignored);
  for (; !ignored && entries != fs::directory_iterator(); entries.increment(ignored)) {
    // Half a checkpoint of a process that was killed.
    std::error_code kept;
    if (entries->path().extension() == ".partial") fs::remove(entries->path(), kept);
  }
  fs::remove(state_->path / "summary.json", ignored);  // how an earlier process ended
  if (Status written = state_->write_first_files(config, run_id, term() + 1); !written) return written;
  return forget_after(version);
}

Status RunFolder::forget_after(std::uint64_t version) {
  auto metrics = MetricsFile::reopen(state_->path / "metrics.csv", version);
  if (!metrics) return metrics.error();
  state_->metrics = std::move(*metrics);
  return {};
}

const fs::path& RunFolder::path() const { return state_->path; }

std::string RunFolder::run_id() const { return state_->root.id; }

std::uint32_t RunFolder::term() const { return state_->root.term; }

Status RunFolder::add_metrics(const Progressed& progressed, const Evaluated* evaluated) {
  return state_->metrics.add(progressed, evaluated);
}

Status RunFolder::save_model(std::span<const models::NamedTensor> tensors) {
  return models::save_safetensors(state_->path / "model.safetensors", tensors);
}

Status RunFolder::save_checkpoint(std::uint64_t version, const CheckpointFile& checkpoint, std::size_t keep) {
  if (Status written = write_checkpoint(checkpoint_name(version), checkpoint); !written) {
    return written;
  }
  const auto all = checkpoints();
  std::error_code ignored;  // what cannot be removed now is tried again after the next
  for (std::size_t i = keep; all && i < all->size(); ++i) fs::remove((*all)[i], ignored);
  return {};
}

Status RunFolder::save_best(const CheckpointFile& checkpoint) {
  return write_checkpoint("best.safetensors", checkpoint);
}

Status RunFolder::write_checkpoint(const std::string& name, const CheckpointFile& checkpoint) {
  const fs::path folder = state_->path / "checkpoints";
  std::error_code error;
  const bool made = fs::create_directory(folder, error);
  if (error) return cannot("make", folder, error.value());
  if (made) {
    if (Status kept = models::sync_folder(state_->path); !kept) return kept;
  }
  return models::save_safetensors(folder / name, checkpoint.tensors, checkpoint.metadata);
}

Status RunFolder::save_summary(const Summary& summary) {
  return replace_file(state_->path / "summary.json", summary_json(summary) + "\n");
}

}  // namespace thalweg::actors
