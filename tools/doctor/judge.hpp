#pragma once

#include "runtime/net/keys.hpp"
#include "runtime/net/probe.hpp"
#include "runtime/time/silence.hpp"
#include "tools/doctor/finding.hpp"
#include "tools/doctor/machine.hpp"

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Says what the facts mean for a node. Pure.
namespace thalweg::doctor {

/// All checks of the machine itself, in the order in which they are shown.
std::vector<Finding> judge_machine(const Machine& machine);

/// What net::check_keys said about the folder that somebody named, at `now`.
std::vector<Finding> judge_keys(const std::string& folder, const Result<net::KeysFacts>& keys,
                                std::chrono::sys_seconds now);

/// What net::try_each_address said about `to`: one finding for each address.
std::vector<Finding> judge_reach(const net::Endpoint& to, const Result<std::vector<net::Attempt>>& attempts);

/// A bound that follows from `net.silence`.
struct Bound {
  std::string_view name;  ///< "heartbeat"
  std::chrono::milliseconds after{0};
  std::string_view what;
};
std::vector<Bound> bounds_of(const Silence& silence);

}  // namespace thalweg::doctor
