#pragma once

#include "actors/messages.hpp"
#include "actors/rules/method.hpp"
#include "actors/run_folder.hpp"
#include "actors/snapshot.hpp"
#include "gpu/buffer.hpp"

#include <thalweg/config.hpp>
#include <thalweg/model.hpp>
#include <thalweg/result.hpp>

#include <filesystem>
#include <optional>
#include <span>
#include <string>

/// How a run goes on from its folder: what is read back, what may be changed, what is not restored. On the
/// thread that starts the cluster.
namespace thalweg::actors {

/// Of the best parameters that an earlier process kept; -1: it kept none.
double best_accuracy(const std::filesystem::path& folder);

/// The newest checkpoint that is whole. Broken ones before it are put aside, and `warning` says so.
/// Fails: as read_checkpoint, but for `corrupt`.
Result<std::optional<Snapshot>> newest_snapshot(const RunFolder& folder, const Config& config,
                                                std::span<const Slot> slots, gpu::BufferPool& pool,
                                                std::string& warning);

/// Whether a run may go on with this key changed. Fails: `invalid`, with the keys that may be.
Status check_change(const Override& change);

/// To go on from what a node holds: its parameters and ledger, with the optimizer's state of `own`, this
/// process's, which is older. Requires: `holding` has a ledger.
Snapshot snapshot_of(const Holding& holding, const Snapshot& own);

/// How old the optimizer's state of `start` is then, in words.
std::string state_age(const Snapshot& start, const Snapshot& own);

/// What a checkpoint does not hold, in words.
std::string not_restored(const rules::Method& method);

}  // namespace thalweg::actors
