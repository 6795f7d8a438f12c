#pragma once

#include <thalweg/config.hpp>
#include <thalweg/run_event.hpp>

#include <string>

namespace thalweg::cli {

/// What is being trained, by whom, on what and where it goes: the first line of a run, without a line end.
std::string start_line(const Config& config, const Started& started);

/// The results of a run as a short block of text. `verbose` adds staleness, messages, busy and setup times.
std::string result_block(const Summary& summary, bool verbose);

}  // namespace thalweg::cli
