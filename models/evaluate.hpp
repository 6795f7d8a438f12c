#pragma once

#include "models/dataset.hpp"

#include <thalweg/model.hpp>

#include <span>

namespace thalweg::models {

/// Scores `parameters` on every sample of `data`, in order. Must run on the thread of the model's stream.
/// Fails: as Model::evaluate.
Result<Score> evaluate(Model& model, const Dataset& data, std::span<const float> parameters);

}  // namespace thalweg::models
