#pragma once

#include <thalweg/result.hpp>

#include <span>
#include <string>

/// What an optimizer or a compensation remembers between steps, as flat vectors with names: a checkpoint
/// writes them down and hands them back.
namespace thalweg::models {

struct NamedState {
  std::string name;
  std::span<float> values;  ///< flat_size(slots) floats, the owner's
};

/// Copies `saved` over the states `wanted`, which must be the same ones, in any order. `owner` is whose they
/// are, in words. Fails: `mismatch`, naming what is missing, surplus or of another size; `wanted` is
/// untouched then.
Status restore_states(std::span<const NamedState> wanted, std::span<const NamedState> saved,
                      const std::string& owner);

}  // namespace thalweg::models
