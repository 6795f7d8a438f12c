#include "actors/metrics_file.hpp"

#include "models/durable_file.hpp"
#include "models/file_error.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <system_error>
#include <utility>

namespace thalweg::actors {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view header =
    "wall_s,epoch,samples,version,loss,accuracy,samples_per_s,staleness,bytes_up,bytes_down\n";

/// A row's wall_s and version, when it has them.
struct Row {
  double wall_s = 0;
  std::uint64_t version = 0;
};

bool read_row(std::string_view line, Row& row) {
  std::array<std::string_view, 4> cells;
  for (auto& cell : cells) {
    const auto comma = line.find(',');
    if (comma == std::string_view::npos) return false;
    cell = line.substr(0, comma);
    line.remove_prefix(comma + 1);
  }
  const auto number = [](std::string_view cell, auto& value) {
    return std::from_chars(cell.data(), cell.data() + cell.size(), value).ec == std::errc{};
  };
  return number(cells[0], row.wall_s) && number(cells[3], row.version);
}

}  // namespace

Result<MetricsFile> MetricsFile::create(const std::filesystem::path& file) {
  MetricsFile metrics;
  metrics.path_ = file;
  metrics.file_ = Descriptor(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666));
  if (!metrics.file_.open()) return models::cannot("write", file, errno);
  if (auto written = metrics.append(header); !written) return written.error();
  return metrics;
}

Result<MetricsFile> MetricsFile::reopen(const std::filesystem::path& file, std::uint64_t version) {
  std::error_code unknown;
  if (!fs::is_regular_file(file, unknown)) return create(file);
  std::ifstream in(file, std::ios::binary);
  const std::string before{std::istreambuf_iterator<char>(in), {}};
  std::string kept(header);
  double wall_s = 0;
  for (std::size_t at = 0, end = 0; (end = before.find('\n', at)) != std::string::npos; at = end + 1) {
    Row row;
    if (!read_row(std::string_view(before).substr(at, end - at), row) || row.version > version) continue;
    kept.append(before, at, end + 1 - at);
    wall_s = row.wall_s;
  }
  const std::array parts = {std::as_bytes(std::span(kept))};
  if (auto written = models::write_durably(file, parts); !written) return written.error();

  MetricsFile metrics;
  metrics.path_ = file;
  metrics.size_ = static_cast<off_t>(kept.size());
  metrics.wall_before_ = wall_s;
  metrics.file_ = Descriptor(::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!metrics.file_.open()) return models::cannot("write", file, errno);
  return metrics;
}

Status MetricsFile::add(const Progressed& progressed, const Evaluated* evaluated) {
  // Evaluated before anything was committed, as when a finished run is resumed, there is no training loss.
  const std::string loss = std::isnan(progressed.loss) ? "" : fmt::format("{:.6g}", progressed.loss);
  const std::string accuracy = evaluated != nullptr ? fmt::format("{:.6f}", evaluated->accuracy) : "";
  return append(fmt::format("{:.3f},{:.4f},{},{},{},{},{:.1f},{:.3f},{},{}\n",
                            wall_before_ + progressed.wall_s, progressed.epoch, progressed.samples,
                            progressed.version, loss, accuracy, progressed.samples_per_s,
                            progressed.staleness, progressed.bytes_up, progressed.bytes_down));
}

/// After a short write the file is cut back to its last whole row.
Status MetricsFile::append(std::string_view text) {
  if (const int reason = write_all(file_.get(), text); reason != 0) {
    [[maybe_unused]] const int cut = ::ftruncate(file_.get(), size_);
    return models::cannot("write", path_, reason);
  }
  size_ += static_cast<off_t>(text.size());
  return {};
}

}  // namespace thalweg::actors
