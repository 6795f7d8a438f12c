#include "tools/doctor/machine.hpp"

#include "actors/caf_version.hpp"
#include "runtime/net/library_versions.hpp"
#include "runtime/net/probe.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/resource.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace thalweg::doctor {
namespace {

std::string system_text() {
  utsname name = {};
  return ::uname(&name) == 0 ? fmt::format("{} {}", name.sysname, name.release) : "unknown system";
}

Status listens(const std::string& address) {
  const auto port = net::try_to_listen({address, 0});
  return port ? Status{} : Status{port.error()};
}

Status synchronized() {
  timex state = {};  // no modes: only reads
  const int clock = ::adjtimex(&state);
  if (clock < 0) return Error{ErrorCode::io, std::strerror(errno)};
  if (clock == TIME_ERROR || (state.status & STA_UNSYNC) != 0) {
    return Error{ErrorCode::failed, "no time server keeps it right"};
  }
  return {};
}

Limit limit_of(decltype(RLIMIT_NOFILE) resource) {
  rlimit limit = {};
  if (::getrlimit(resource, &limit) != 0) return {};
  const auto number = [](rlim_t value) { return value == RLIM_INFINITY ? Limit::none : value; };
  return {number(limit.rlim_cur), number(limit.rlim_max)};
}

/// The kernel gives the first pid namespace, and no other, this number.
bool has_own_pids() {
  std::error_code error;
  const auto link = std::filesystem::read_symlink("/proc/self/ns/pid", error);
  return !error && link != "pid:[4026531836]";
}

}  // namespace

Machine look_at_machine() {
  Machine machine;
  machine.system = system_text();
  machine.libraries = net::library_versions();
  machine.libraries.insert(machine.libraries.begin(), caf_version());
  machine.devices = gpu::list_devices();
  machine.host_name = net::host_name();
  machine.host_addresses = net::resolve(machine.host_name);
  machine.addresses = net::local_addresses();
  machine.listens_ipv4 = listens("0.0.0.0");
  machine.listens_ipv6 = listens("::");
  machine.time = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  machine.clock_synchronized = synchronized();
  machine.open_files = limit_of(RLIMIT_NOFILE);
  machine.processes = limit_of(RLIMIT_NPROC);
  machine.pid = ::getpid();
  machine.own_pids = has_own_pids();
  return machine;
}

}  // namespace thalweg::doctor
