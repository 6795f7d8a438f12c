#include "gpu/device.hpp"
#include "tools/cli/objects.hpp"
#include "tools/cli/progress.hpp"
#include "tools/cli/subcommands.hpp"
#include "tools/cli/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace thalweg::cli {
namespace {

using Row = std::array<std::string, 5>;

/// Each column as wide as its widest cell.
std::string table(const std::vector<Row>& rows) {
  std::array<std::size_t, 5> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format("{:<{}}  ", row[i], widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string report_text(const gpu::DeviceReport& report) {
  std::vector<Row> rows = {{"DEVICE", "HARDWARE", "LIBRARY", "CORES", "MEMORY"}};
  for (const gpu::DeviceInfo& device : report.devices) {
    rows.push_back({device.name, device.hardware, device.library, std::to_string(device.cores),
                    human_bytes(device.memory_bytes)});
  }
  std::string text = table(rows);
  if (!report.absent.empty()) text += "\nabsent:\n";
  for (const std::string& absent : report.absent) text += "  " + absent + "\n";
  return text;
}

}  // namespace

int run_devices(const Arguments& arguments) {
  const gpu::DeviceReport report = gpu::list_devices();
  const Status printed =
      print_result(arguments.has("--json") ? devices_json(report) + "\n" : report_text(report));
  return printed ? 0 : report_error(printed.error());
}

}  // namespace thalweg::cli
