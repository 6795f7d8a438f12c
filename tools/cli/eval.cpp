#include "gpu/device.hpp"
#include "models/evaluate.hpp"
#include "models/network.hpp"
#include "models/registry.hpp"
#include "models/safetensors.hpp"
#include "tools/cli/objects.hpp"
#include "tools/cli/progress.hpp"
#include "tools/cli/subcommands.hpp"
#include "tools/cli/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace thalweg::cli {
namespace fs = std::filesystem;

namespace {

/// The job of a run folder, with the flags of this command on top.
Result<Config> read_folder(const fs::path& folder, const Arguments& arguments) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return Error{
        ErrorCode::not_found,
        fmt::format("{}: no such folder: give the run folder that thalweg train made", folder.string())};
  }
  if (!fs::exists(folder / "job.toml", error)) {
    return Error{ErrorCode::not_found,
                 fmt::format("{}: is no run folder, it holds no job.toml: give the folder that "
                             "thalweg train made",
                             folder.string())};
  }
  if (!fs::exists(folder / "model.safetensors", error)) {
    return Error{ErrorCode::not_found,
                 fmt::format("{}: holds no model.safetensors: the run has not ended, or ended "
                             "before it could write one",
                             folder.string())};
  }
  const Result<std::vector<Override>> overrides = arguments.overrides();
  if (!overrides) return overrides.error();
  return load_config(folder / "job.toml", *overrides);
}

Result<Score> evaluate_folder(const fs::path& folder, const Config& config) {
  const fs::path file = folder / "model.safetensors";
  const Result<models::SafetensorsFile> weights = models::load_safetensors(file);
  if (!weights) return weights.error();
  const Result<models::DatasetPair> data = models::load_dataset(config);
  if (!data) return data.error();
  const models::Dataset& test = *data->test;
  const Result<models::NetworkSpec> spec = models::find_network(config, test.sample_shape(), test.classes());
  if (!spec) return spec.error();

  const std::unique_ptr<gpu::Device> device = gpu::open_host_device();
  const std::unique_ptr<gpu::Stream> stream = device->open_stream("eval");
  const Result<std::unique_ptr<Model>> model = models::make_network(*spec, *device, *stream);
  if (!model) return model.error();
  const auto pool = device->make_pool(flat_size((*model)->slots()), 1);
  const std::shared_ptr<gpu::Buffer> parameters = pool->take();
  std::ranges::fill(parameters->values(), 0.0F);
  Status filled = models::fill_from(*weights, (*model)->slots(), parameters->values(), file.string());
  if (!filled) return filled.error();

  Result<Score> score = Score{};
  stream->submit(
      [&](gpu::Stream&) -> Status {
        score = models::evaluate(**model, test, parameters->values());
        return score ? Status{} : Status{score.error()};
      },
      [](const Status&) {});
  if (Status done = stream->record().wait(); !done) return done.error();
  return score;
}

}  // namespace

int run_eval(const Arguments& arguments) {
  const fs::path folder = arguments.positionals[0];
  const Result<Config> config = read_folder(folder, arguments);
  if (!config) return report_error(config.error());
  const Result<Score> score = evaluate_folder(folder, *config);
  if (!score) return report_error(score.error());

  const Evaluation evaluation = {folder.string(), config->model.name, config->data.name, *score};
  const std::string text = fmt::format("test accuracy  {}  ({} of {})\ntest loss      {:.4f}\n",
                                       human_percent(evaluation.accuracy()), human_count(score->correct),
                                       human_count(score->samples), evaluation.loss());
  const Status printed = print_result(arguments.has("--json") ? evaluation_json(evaluation) + "\n" : text);
  return printed ? 0 : report_error(printed.error());
}

}  // namespace thalweg::cli
