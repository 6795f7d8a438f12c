#include "tests/fuzz/mutation.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <unistd.h>

/// Runs a fuzz target without libFuzzer, so that every build and every compiler runs it:
///
///     fuzz_NAME [--seconds S] [--seed N] FOLDERS AND FILES
///
/// The files, and those in the folders, are inputs: each is run once, and then, for S seconds (0 when not
/// given), changed ones. The same seed gives the same inputs in the same order. The input that ends the
/// program is kept in crash-NAME-SEED, for running it again alone.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

// The sanitizers' own hook: they end the program without a signal.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace thalweg::fuzz {
namespace {

constexpr std::size_t size_max = 1U << 16;
constexpr unsigned input_limit_s = 10;

/// What a signal handler needs: it is handed nothing, so this is the one place that outlives every call.
struct Current {
  const std::uint8_t* data = nullptr;
  std::size_t size = 0;
  std::array<char, 256> file{};
};
Current current;

/// Calls nothing but what a signal handler may.
void keep_current() {
  if (current.data == nullptr) return;
  const int out = ::open(current.file.data(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  const ssize_t written = out < 0 ? -1 : ::write(out, current.data, current.size);
  const auto say = [](const char* text) { return ::write(STDERR_FILENO, text, std::strlen(text)) > 0; };
  const bool said =
      say(written < 0 ? "fuzz: the input could not be kept in " : "fuzz: the input is kept in ") &&
      say(current.file.data()) && say("\n");
  current.data = said ? nullptr : current.data;
}

extern "C" void end_by_signal(int signal) {
  keep_current();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void catch_signals() {
  // A stack of its own, for inputs that use up the other one.
  static std::array<char, 1U << 16> memory;
  const stack_t stack{.ss_sp = memory.data(), .ss_flags = 0, .ss_size = memory.size()};
  ::sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = end_by_signal;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGABRT, SIGALRM, SIGFPE, SIGILL}) ::sigaction(signal, &action, nullptr);
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(keep_current);
  } else {
    for (const int signal : {SIGBUS, SIGSEGV}) ::sigaction(signal, &action, nullptr);
  }
}

void run(const Bytes& bytes) {
  // A copy of its own size: a sanitizer sees a read past its end, which a vector's capacity would hide.
  const Bytes input(bytes.begin(), bytes.end());
  current.data = input.data();
  current.size = input.size();
  ::alarm(input_limit_s);
  LLVMFuzzerTestOneInput(input.data(), input.size());
  current.data = nullptr;
}

Bytes contents(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// In the order of their names, so that a seed means the same on every file system.
std::vector<std::filesystem::path> files_of(const std::vector<std::filesystem::path>& named) {
  std::vector<std::filesystem::path> files;
  for (const auto& path : named) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    const auto first = static_cast<std::ptrdiff_t>(files.size());
    for (const auto& entry : std::filesystem::directory_iterator(path)) files.push_back(entry.path());
    std::sort(files.begin() + first, files.end());
  }
  return files;
}

int drive(const std::string& name, double seconds, std::uint64_t seed,
          const std::vector<std::filesystem::path>& named) {
  std::snprintf(current.file.data(), current.file.size(), "crash-%s-%llu", name.c_str(),
                static_cast<unsigned long long>(seed));
  catch_signals();
  std::vector<Bytes> corpus;
  for (const auto& file : files_of(named)) {
    if (!std::filesystem::is_regular_file(file)) {
      std::fprintf(stderr, "fuzz: no such file: %s\n", file.c_str());
      return 2;
    }
    corpus.push_back(contents(file));
    run(corpus.back());
  }
  if (corpus.empty()) {
    std::fprintf(stderr, "fuzz: nothing to begin with: name files, or folders that hold some\n");
    return 2;
  }
  std::printf("%s: %zu inputs, then changed ones for %g s from seed %llu\n", name.c_str(), corpus.size(),
              seconds, static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  Random random(seed);
  std::size_t runs = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (; std::chrono::steady_clock::now() < end; ++runs) run(mutate(corpus, random, size_max));
  ::alarm(0);
  std::printf("%s: %zu changed inputs held\n", name.c_str(), runs);
  return 0;
}

}  // namespace
}  // namespace thalweg::fuzz

int main(int count, char** arguments) {
  const std::string name = std::filesystem::path(arguments[0]).filename().string();
  double seconds = 0;
  std::uint64_t seed = 1;
  std::vector<std::filesystem::path> named;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    const bool takes_number = argument == "--seconds" || argument == "--seed";
    if (!takes_number) {
      named.emplace_back(argument);
    } else if (++i == count) {
      std::fprintf(stderr, "%s [--seconds S] [--seed N] FOLDERS AND FILES\n", name.c_str());
      return 2;
    } else if (argument == "--seconds") {
      seconds = std::strtod(arguments[i], nullptr);
    } else {
      seed = std::strtoull(arguments[i], nullptr, 10);
    }
  }
  return thalweg::fuzz::drive(name, seconds, seed, named);
}
