#pragma once

#include "actors/assembly.hpp"
#include "actors/emulated_model.hpp"
#include "runtime/time/clock.hpp"

#include <thalweg/config.hpp>

#include <chrono>
#include <cstddef>
#include <string>

/// What [emulate] asks for, put to work when a run is assembled: slower workers here, slower links in
/// emulated_links.hpp. Pure but for emulate_workers, which computes a few steps to see how long they take.
namespace thalweg::actors {

/// The largest share of the machine's cores that computing may take when steps have a length: above it
/// workers would wait for a core, and the length would not be the one asked for.
constexpr double real_compute_max = 0.4;

/// Whether workers take longer than they need.
bool emulates_workers(const Config& config);

/// How long steps of worker `index` take. Requires: `config` is resolved.
StepLength step_length(const Config& config, std::size_t index);

/// Samples a second that all workers make together when none waits for another; 0 when `emulate.step` does
/// not say it. Requires: `config` is resolved.
double speed_alone(const Config& config);

/// Whether `cores` cores compute all that the workers do in the time they take for it, when worker 0 really
/// computes its batch in `real`. Requires: `emulate.step` is set.
/// Fails: `invalid`, with both numbers and a step that would be long enough.
Status check_real_compute(const Config& config, std::chrono::nanoseconds real, std::size_t cores);

/// Wraps the model of each worker into an EmulatedModel; does nothing when the job asks for none. With
/// `emulate.step`, worker 0 first computes its batch a few times on its own stream.
/// Requires: `clock` outlives the assembly. Fails: as check_real_compute, or as a step does.
Status emulate_workers(Assembly& assembly, const Payload& parameters, const Clock& clock, std::size_t cores);

/// Wraps the model of one worker. Requires: `config` asks for it; `clock` outlives the worker.
void emulate(Compute& compute, const Config& config, std::size_t worker, const Clock& clock);

/// What is emulated, for people: "a step takes 10ms, w3 4 times as long"; empty: nothing.
std::string emulation_text(const Config& config);

}  // namespace thalweg::actors
