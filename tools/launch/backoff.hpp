#pragma once

#include <chrono>
#include <cstddef>

namespace thalweg::launch {

/// How long to wait before a process is started for the `restart`-th time in a row: 1, 2, 4, 8, 16 s, then
/// 30 s. Pure. Requires: restart >= 1.
std::chrono::seconds backoff(std::size_t restart);

}  // namespace thalweg::launch
