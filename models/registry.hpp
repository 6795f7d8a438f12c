#pragma once

#include "models/dataset.hpp"
#include "models/layers.hpp"

#include <thalweg/config.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

/// Networks and data sets by name, as `--model` and `--data` say them. Adding one is one entry here.
namespace thalweg::models {

/// Names that `find_network` and `load_dataset` know, in alphabetical order.
std::vector<std::string> network_names();
std::vector<std::string> dataset_names();

/// The network `config.model.name` for samples of `input` shape ([C, H, W]) and `classes` classes.
/// Fails: `invalid` for an unknown name (says the nearest known one) or an input it was not made for.
Result<NetworkSpec> find_network(const Config& config, std::span<const std::size_t> input,
                                 std::size_t classes);

/// Training and test set of `config.data`.
/// Fails: `invalid` for an unknown name; `not_found` with the file and the command that brings it; `corrupt`
/// with file and what is wrong at which byte.
Result<DatasetPair> load_dataset(const Config& config);

}  // namespace thalweg::models
