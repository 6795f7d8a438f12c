#include "models/registry.hpp"

#include "runtime/config/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace thalweg::models {
namespace {

using SampleShape = std::span<const std::size_t>;

struct NetworkEntry {
  const char* name;
  Result<NetworkSpec> (*make)(const Config& config, SampleShape input, std::size_t classes);
};

struct DatasetEntry {
  const char* name;
  Result<DatasetPair> (*load)(const Config& config);
};

/// A fully connected network with `model.hidden` hidden layers.
Result<NetworkSpec> make_mlp(const Config& config, SampleShape input, std::size_t classes) {
  NetworkSpec spec{"mlp", {input.begin(), input.end()}, classes, {}};
  for (const std::size_t width : config.model.hidden) {
    spec.layers.push_back(LinearLayer{fmt::format("fc{}", spec.layers.size() + 1), {width, true}});
  }
  spec.layers.push_back(LinearLayer{fmt::format("fc{}", spec.layers.size() + 1), {classes, false}});
  return spec;
}

/// LeCun, Bottou, Bengio and Haffner, "Gradient-based learning applied to document recognition", 1998, as it
/// is written today: relu instead of tanh, max pooling without weights, plain outputs. 61,706 parameters.
Result<NetworkSpec> make_lenet5(const Config&, SampleShape input, std::size_t classes) {
  if (!std::ranges::equal(input, std::array<std::size_t, 3>{1, 28, 28})) {
    return Error{ErrorCode::invalid,
                 fmt::format("network lenet5 is made for samples of [1, 28, 28], the data have "
                             "[{}]: use --model mlp",
                             fmt::join(input, ", "))};
  }
  using gpu::Conv2dSpec;
  return NetworkSpec{
      "lenet5",
      {input.begin(), input.end()},
      classes,
      {ConvLayer{"conv1", {.out_channels = 6, .kernel = 5, .stride = 1, .padding = 2, .relu = true}},
       PoolLayer{},
       ConvLayer{"conv2", {.out_channels = 16, .kernel = 5, .stride = 1, .padding = 0, .relu = true}},
       PoolLayer{}, LinearLayer{"fc1", {120, true}}, LinearLayer{"fc2", {84, true}},
       LinearLayer{"fc3", {classes, false}}}};
}

/// `stem` in `dir`, gzipped or not: whichever is there, the plain one first.
Result<std::filesystem::path> find_idx(const std::filesystem::path& dir, const std::string& stem,
                                       const std::string& remedy) {
  const auto plain = dir / stem;
  const auto packed = dir / (stem + ".gz");
  std::error_code ignored;
  if (std::filesystem::exists(plain, ignored)) return plain;
  if (std::filesystem::exists(packed, ignored)) return packed;
  return Error{ErrorCode::not_found,
               fmt::format("data file {}[.gz] is not there: {}", plain.string(), remedy)};
}

/// The four files that MNIST and every data set made after its pattern come in.
Result<DatasetPair> load_mnist_files(const std::filesystem::path& dir, const std::string& remedy,
                                     Normalisation normalisation) {
  constexpr std::size_t classes = 10;
  DatasetPair pair;
  for (const bool train : {true, false}) {
    const std::string prefix = train ? "train" : "t10k";
    const auto images = find_idx(dir, prefix + "-images-idx3-ubyte", remedy);
    if (!images) return images.error();
    const auto labels = find_idx(dir, prefix + "-labels-idx1-ubyte", remedy);
    if (!labels) return labels.error();
    auto dataset = load_idx(*images, *labels, classes, normalisation);
    if (!dataset) return dataset.error();
    (train ? pair.train : pair.test) = std::move(*dataset);
  }
  if (!std::ranges::equal(pair.train->sample_shape(), pair.test->sample_shape())) {
    return Error{
        ErrorCode::corrupt,
        fmt::format("{}: training images are [{}], test images [{}]: take all four files from one data set",
                    dir.string(), fmt::join(pair.train->sample_shape(), ", "),
                    fmt::join(pair.test->sample_shape(), ", "))};
  }
  return pair;
}

Result<DatasetPair> load_fashion_mnist(const Config& config) {
  const std::string package_dir = "/usr/share/datasets/fashion-mnist";
  return load_mnist_files(
      config.data.dir.empty() ? package_dir : config.data.dir,
      "apt-get install dataset-fashion-mnist brings it, or say where it is with --data-dir",
      {.mean = 0.2860F, .deviation = 0.3530F});
}

Result<DatasetPair> load_mnist(const Config& config) {
  if (config.data.dir.empty()) {
    return Error{ErrorCode::invalid,
                 "data.dir is empty: no package brings mnist: say with --data-dir where "
                 "train-images-idx3-ubyte[.gz] and its three companions are"};
  }
  return load_mnist_files(config.data.dir,
                          "download MNIST's four files, or say where they are with --data-dir",
                          {.mean = 0.1307F, .deviation = 0.3081F});
}

/// The data do not depend on `run.seed`, as those in files do not: runs with different seeds can be compared.
Result<DatasetPair> load_synthetic(const Config& config) {
  if (config.data.classes == 0 || config.data.samples == 0) {
    return Error{ErrorCode::invalid, "data.classes and data.samples of synthetic data must be at least 1"};
  }
  SyntheticOptions options;
  options.samples = config.data.samples;
  options.classes = config.data.classes;
  options.noise = config.data.noise;
  DatasetPair pair;
  pair.train = make_synthetic(options);
  options.samples = std::max<std::uint64_t>(1, config.data.samples / 4);
  options.part = 1;
  pair.test = make_synthetic(options);
  return pair;
}

constexpr std::array networks{
    NetworkEntry{"lenet5", make_lenet5},
    NetworkEntry{"mlp", make_mlp},
};

constexpr std::array datasets{
    DatasetEntry{"fashion_mnist", load_fashion_mnist},
    DatasetEntry{"mnist", load_mnist},
    DatasetEntry{"synthetic", load_synthetic},
};

std::vector<std::string> names_of(const auto& entries) {
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (const auto& entry : entries) names.emplace_back(entry.name);
  return names;
}

Error unknown(const char* key, const std::string& name, const std::vector<std::string>& known) {
  const std::string near = nearest_name(name, known);
  return {ErrorCode::invalid, fmt::format("{} = \"{}\": no such name: {}known are {}", key, name,
                                          near.empty() ? "" : fmt::format("did you mean \"{}\"? ", near),
                                          fmt::join(known, ", "))};
}

}  // namespace

std::vector<std::string> network_names() { return names_of(networks); }
std::vector<std::string> dataset_names() { return names_of(datasets); }

Result<NetworkSpec> find_network(const Config& config, std::span<const std::size_t> input,
                                 std::size_t classes) {
  for (const auto& entry : networks) {
    if (config.model.name == entry.name) return entry.make(config, input, classes);
  }
  return unknown("model.name", config.model.name, network_names());
}

Result<DatasetPair> load_dataset(const Config& config) {
  for (const auto& entry : datasets) {
    if (config.data.name == entry.name) return entry.load(config);
  }
  return unknown("data.name", config.data.name, dataset_names());
}

}  // namespace thalweg::models
