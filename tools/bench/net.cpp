#include "gpu/buffer.hpp"
#include "runtime/net/asio_exchange.hpp"
#include "runtime/net/keys.hpp"
#include "tools/bench/bare_pair.hpp"
#include "tools/bench/benches.hpp"
#include "tools/bench/peak.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>

/// How fast a large payload reaches another node and is summed there: two exchanges on loopback, each on its
/// own thread, against two bare ends of a connection that move the same chunks and work out the same
/// checksums.
namespace thalweg::bench {
namespace {

constexpr net::PeerId sender_id{{1}, {1}};
constexpr net::PeerId receiver_id{{2}, {1}};
constexpr std::chrono::seconds patience{60};

/// Sums what arrives, and says so to whoever waits.
class Summer final : public net::ExchangeListener {
 public:
  explicit Summer(std::shared_ptr<gpu::Buffer> landing) : landing_(std::move(landing)) {}

  net::Landing land(net::PeerId, std::size_t floats) override {
    return {landing_, landing_->values().first(floats)};
  }
  void arrived(net::PeerId, net::Parcel parcel) override {
    const float sum = sum_of(parcel.payloads.front()->host());
    tell([&] { sum_ = sum; });
  }
  void opened(net::PeerId) override {
    tell([&] { open_ = true; });
  }
  void lost(net::PeerId, const std::string& why) override {
    tell([&] { failure_ = why; });
  }

  Status wait_open() {
    return wait([this] { return open_; });
  }
  Result<float> wait_sum() {
    if (const Status done = wait([this] { return sum_.has_value(); }); !done) return done.error();
    const std::lock_guard lock(mutex_);
    return *std::exchange(sum_, std::nullopt);
  }

 private:
  void tell(auto change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }
  Status wait(auto holds) {
    std::unique_lock lock(mutex_);
    const bool told = changed_.wait_for(lock, patience, [&] { return holds() || !failure_.empty(); });
    if (told && failure_.empty()) return {};
    return Error{ErrorCode::failed, "loopback: " + (told ? failure_ : "nothing came for a minute")};
  }

  std::shared_ptr<gpu::Buffer> landing_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  std::optional<float> sum_;
  std::string failure_;
};

/// Two nodes with a connection.
struct Nodes {
  Nodes(const std::shared_ptr<gpu::Buffer>& landing) : sends(landing), sums(landing) {}

  Status open(std::size_t floats, const BarePair::Options& options) {
    const auto open_one = [&](net::PeerId self, Summer& listener) {
      return net::AsioExchange::open({.listen = {"127.0.0.1", 0},
                                      .tls = options.tls,
                                      .self = self,
                                      .payload_floats_max = floats,
                                      .checksums = options.checksums,
                                      .listener = listener});
    };
    auto first = open_one(sender_id, sends);
    if (!first.ok()) return first.error();
    auto second = open_one(receiver_id, sums);
    if (!second.ok()) return second.error();
    sender = std::move(*first);
    receiver = std::move(*second);
    sender->connect(receiver_id, {receiver->local()});
    return sends.wait_open();
  }

  Result<float> carry(const Payload& payload) {
    net::Parcel parcel;
    parcel.payloads = {payload};
    sender->send(receiver_id, std::move(parcel));
    return sums.wait_sum();
  }

  Summer sends, sums;
  std::unique_ptr<net::Exchange> sender, receiver;
};

/// Where the keys of a run of the bench are, until it is over.
class KeysFolder {
 public:
  KeysFolder() {
    std::error_code error;
    std::string name = (std::filesystem::temp_directory_path(error) / "thalweg-bench-XXXXXX").string();
    if (!error && ::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  KeysFolder(const KeysFolder&) = delete;
  KeysFolder& operator=(const KeysFolder&) = delete;
  ~KeysFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  /// Empty: it could not be made.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

Status compare_way(const Settings& settings, const BarePair::Options& options, const std::string& what) {
  const std::size_t floats = settings.small ? 1 << 12 : 25'000'000;
  const auto pool = gpu::BufferPool::make_host(floats, 3);
  const auto from = pool->take();
  const auto bare_landing = pool->take();
  std::ranges::fill(from->values(), 1.0F);

  Nodes nodes(pool->take());
  if (const Status open = nodes.open(floats, options); !open) return open;
  auto bare = BarePair::open(options);
  if (!bare.ok()) return bare.error();

  const auto timed_carry = [&](auto carry) {
    return [&settings, carry]() -> Result<double> {
      const auto began = settings.clock.now();
      const Result<float> sum = carry();
      if (!sum.ok()) return sum.error();
      return seconds(settings.clock.now() - began);
    };
  };
  const auto measured = Interleaved::measure(
      {{"exchange", timed_carry([&] { return nodes.carry(from); })},
       {"bare pair",
        timed_carry([&] { return (*bare)->carry(from->host(), bare_landing->values().first(floats)); })}},
      settings.pairs);
  if (!measured) return measured.error();

  Triad triad(std::size_t{12} * floats);
  const auto streamed = Interleaved::measure(
      {timed("triad", settings.clock, triad.bytes(), [&triad] { triad.run(); })}, settings.small ? 1 : 5);
  if (!streamed) return streamed.error();
  const double byte_s = streamed->cost(0).median;
  // The system copies in and out of the socket, then the sum reads: five times the payload.
  const double bytes = 5.0 * sizeof(float) * static_cast<double>(floats);

  Comparison comparison = compare(*measured, 0, 1, Sense::speed);
  comparison.bench = "net";
  comparison.what = fmt::format("{:.3g} MB over loopback, {}", static_cast<double>(floats) * 4e-6, what);
  comparison.unit = "payload";
  comparison.subject = "exchange";
  comparison.reference = "bare pair";
  comparison.floor = {
      bytes * byte_s,
      fmt::format("two copies and a sum at {:.1f} GB/s, what the triad reaches", 1e-9 / byte_s)};
  comparison.target = 0.90;
  settings.on_comparison(comparison);
  return {};
}

}  // namespace

Status bench_net(const Settings& settings) {
  if (Status done = compare_way(settings, {}, "plain"); !done) return done;
  if (Status done = compare_way(settings, {.checksums = false}, "plain, no checksums"); !done) return done;
  const KeysFolder folder;
  if (folder.path().empty()) return Error{ErrorCode::io, "no temporary folder for keys: free some space"};
  const auto keys = net::make_local_keys(folder.path());
  if (!keys.ok()) return keys.error();
  const auto credentials = net::find_credentials(*keys);
  if (!credentials.ok()) return credentials.error();
  return compare_way(settings, {.checksums = false, .tls = *credentials}, "TLS");
}

}  // namespace thalweg::bench
