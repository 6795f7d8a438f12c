#include "tools/doctor/judge.hpp"

#include "tools/text/numbers.hpp"

#include <thalweg/version.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

namespace thalweg::doctor {
namespace {

constexpr std::uint64_t open_files_enough = 1024;  // connections, logs, checkpoints and data of a large tree
constexpr std::uint64_t processes_enough = 512;    // a thread for each worker, and a few of each library's
constexpr auto keys_end_soon = std::chrono::days(30);

Finding judge_versions(const Machine& machine) {
  return {Level::ok, "versions",
          fmt::format("thalweg {}, {}, {}", version(), fmt::join(machine.libraries, ", "), machine.system),
          ""};
}

std::vector<Finding> judge_devices(const gpu::DeviceReport& report) {
  std::vector<Finding> findings;
  for (const gpu::DeviceInfo& device : report.devices) {
    findings.push_back({Level::ok, "device",
                        fmt::format("{}: {}, {}, {} cores, {}", device.name, device.hardware, device.library,
                                    device.cores, text::human_bytes(device.memory_bytes)),
                        ""});
  }
  for (const std::string& absent : report.absent) findings.push_back({Level::ok, "device", absent, ""});
  return findings;
}

/// The first address that others may reach; empty: none.
std::string best_address(const Machine& machine) {
  if (!machine.addresses) return {};
  const std::vector<net::LocalAddress> some = net::advertisable(*machine.addresses);
  return some.empty() ? "" : some[0].address;
}

Finding judge_name(const Machine& machine) {
  const std::string best = best_address(machine);
  const std::string advice =
      fmt::format("put a line \"{} {}\" first in /etc/hosts, or name that address in net.listen", best,
                  machine.host_name);
  if (!machine.host_addresses) {
    const std::string& why = machine.host_addresses.error().text;
    if (best.empty()) return {Level::warn, "name", why, "name an address in net.listen"};
    return {Level::warn, "name", why, advice};
  }
  const std::string all =
      fmt::format("{} is {}", machine.host_name, fmt::join(*machine.host_addresses, ", "));
  if (best.empty() || !std::ranges::all_of(*machine.host_addresses, net::is_loopback)) {
    return {Level::ok, "name", all, ""};
  }
  return {Level::warn, "name", all + ", by which another machine would reach itself", advice};
}

Finding judge_addresses(const Machine& machine) {
  if (!machine.addresses) return {Level::warn, "addresses", machine.addresses.error().text, "see ip address"};
  const std::vector<net::LocalAddress> some = net::advertisable(*machine.addresses);
  if (some.empty()) {
    return {Level::warn, "addresses", "only those of this machine itself",
            "connect it to a network, unless all nodes run here"};
  }
  std::string list;
  for (const net::LocalAddress& one : some) {
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", one.address, one.interface);
  }
  return {Level::ok, "addresses", list, ""};
}

Finding judge_ports(const Machine& machine) {
  if (machine.listens_ipv4 && machine.listens_ipv6) {
    return {Level::ok, "ports", "can be listened at, IPv4 and IPv6", ""};
  }
  if (machine.listens_ipv4) {
    return {Level::ok, "ports",
            fmt::format("can be listened at, IPv4 only ({})", machine.listens_ipv6.error().text), ""};
  }
  if (machine.listens_ipv6) {
    return {Level::ok, "ports",
            fmt::format("can be listened at, IPv6 only ({})", machine.listens_ipv4.error().text), ""};
  }
  return {Level::fail, "ports", machine.listens_ipv4.error().text,
          "allow this program to open network ports (sandbox, container, seccomp)"};
}

Finding judge_clock(const Machine& machine) {
  const std::string time = net::utc_text(machine.time);
  if (machine.clock_synchronized) return {Level::ok, "clock", time + ", kept right by a time server", ""};
  const Error& why = machine.clock_synchronized.error();
  if (why.code == ErrorCode::io) {
    return {Level::ok, "clock", fmt::format("{}; who keeps it right cannot be known ({})", time, why.text),
            ""};
  }
  return {Level::warn, "clock", fmt::format("{}, and {}", time, why.text),
          "compare it with the other machines (logs and certificates go by it), or run: timedatectl set-ntp "
          "true"};
}

Finding judge_limit(const char* check, const Limit& limit, std::uint64_t enough, const char* flag) {
  const auto number = [](std::uint64_t value) {
    return value == Limit::none ? "no limit" : text::human_count(value);
  };
  const std::string text = limit.now == Limit::none ? number(limit.now)
                                                    : fmt::format("at most {} (can be raised to: {})",
                                                                  number(limit.now), number(limit.most));
  if (limit.now >= enough) return {Level::ok, check, text, ""};
  const std::string advice =
      limit.most >= enough
          ? fmt::format("run ulimit {} {} before a node of a large cluster starts", flag, enough)
          : fmt::format("have its owner raise it to {} in /etc/security/limits.conf", enough);
  return {Level::warn, check, text, advice};
}

Finding judge_pid(const Machine& machine) {
  if (!machine.own_pids) return {Level::ok, "pid", "process ids are the machine's own", ""};
  if (machine.pid != 1) {
    return {Level::ok, "pid",
            fmt::format("process ids are the container's own; this is {}, a node must not be the 1 of "
                        "several containers that share a network",
                        machine.pid),
            ""};
  }
  return {Level::warn, "pid",
          "this is process 1 of a container: with the machine's network, nodes in several such containers "
          "take each other for one",
          "give each container a network of its own, or the machine's process ids (--pid=host)"};
}

std::string advice_for(int reason) {
  switch (reason) {
    case ECONNREFUSED:
      return "nothing listens there: start the node, or check the port";
    case ETIMEDOUT:
      return "nothing answers: check the address, and that no firewall drops packets to this port";
    case EHOSTUNREACH:
    case ENETUNREACH:
      return "check the address, and this machine's routes";
    case EAFNOSUPPORT:
      return "this machine does not have that kind of address: give another one";
    case EACCES:
    case EPERM:
      return "a firewall of this machine forbids it: see its rules";
    default:
      return "check the address";
  }
}

}  // namespace

std::vector<Finding> judge_machine(const Machine& machine) {
  std::vector<Finding> findings = {judge_versions(machine)};
  std::ranges::move(judge_devices(machine.devices), std::back_inserter(findings));
  findings.push_back(judge_name(machine));
  findings.push_back(judge_addresses(machine));
  findings.push_back(judge_ports(machine));
  findings.push_back(judge_clock(machine));
  findings.push_back(judge_limit("files", machine.open_files, open_files_enough, "-n"));
  findings.push_back(judge_limit("processes", machine.processes, processes_enough, "-u"));
  findings.push_back(judge_pid(machine));
  return findings;
}

std::vector<Finding> judge_keys(const std::string& folder, const Result<net::KeysFacts>& keys,
                                std::chrono::sys_seconds now) {
  if (!keys) return {{Level::fail, "keys", keys.error().text, ""}};
  const net::CertificateFacts& own = keys->node ? *keys->node : keys->authority;
  const std::string text =
      fmt::format("{}: {}, until {}", folder, own.subject, net::utc_text(own.valid_until));
  if (own.valid_until - now < keys_end_soon) {
    return {{Level::warn, "keys", text, "make new ones before that, with: thalweg keys node"}};
  }
  return {{Level::ok, "keys", text, ""}};
}

std::vector<Finding> judge_reach(const net::Endpoint& to, const Result<std::vector<net::Attempt>>& attempts) {
  if (!attempts) {
    return {{Level::fail, "reach", attempts.error().text, "check the name, or give an address"}};
  }
  const bool any = std::ranges::any_of(*attempts, &net::Attempt::connected);
  std::vector<Finding> findings;
  for (const net::Attempt& attempt : *attempts) {
    const std::string address = attempt.address.text();
    const std::string name = address == to.text() ? address : fmt::format("{} at {}", to.text(), address);
    if (attempt.connected()) {
      findings.push_back(
          {Level::ok, "reach", fmt::format("{}: connected in {} ms", name, attempt.took.count()), ""});
    } else {
      findings.push_back(
          {any ? Level::warn : Level::fail, "reach",
           fmt::format("{}: {} after {} ms", name, std::strerror(attempt.reason), attempt.took.count()),
           advice_for(attempt.reason)});
    }
  }
  return findings;
}

std::vector<Bound> bounds_of(const Silence& silence) {
  return {
      {"heartbeat", silence.heartbeat(), "a node says something to each neighbour at least this often"},
      {"check_every", silence.check_every(), "it is looked at this often who has been silent"},
      {"dead_after", silence.dead_after(), "without a sign of life for longer, a member is dead"},
      {"dead_at_the_latest", silence.dead_at_the_latest(),
       "this long after a cut, at the latest, it is known to be dead"},
      {"suspect_grace", silence.suspect_grace(),
       "a round waits this long for a member whose connection or process is gone"},
      {"progress_every", silence.progress_every(), "a receiver says at least this often how far it is"},
      {"progress_deadline", silence.progress_deadline(),
       "without a byte for this long, a transfer is given up"},
  };
}

}  // namespace thalweg::doctor
