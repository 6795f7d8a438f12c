#include "actors/node_post.hpp"

#include "runtime/net/addresses.hpp"
#include "runtime/net/asio_exchange.hpp"

#include <array>
#include <utility>

namespace thalweg::actors {

namespace {

/// Vectors of one member that are here at the same time: two contributions that wait, and one under way.
constexpr std::size_t vectors_each = 3;
constexpr std::size_t vectors_spare = 8;

/// The 16 bytes of a run's id.
std::array<std::byte, 16> run_bytes(const std::string& run_id) {
  std::array<std::byte, 16> bytes{};
  const auto digit = [&](std::size_t i) -> unsigned {
    const char letter = i < run_id.size() ? run_id[i] : '0';
    if (letter >= '0' && letter <= '9') return static_cast<unsigned>(letter - '0');
    if (letter >= 'a' && letter <= 'f') return static_cast<unsigned>(letter - 'a' + 10);
    return 0;
  };
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(digit(2 * i) << 4 | digit(2 * i + 1));
  }
  return bytes;
}

}  // namespace

NodePost::NodePost(const NodeContext& context, caf::actor_system& system, Options options)
    : context_(context),
      system_(system),
      options_(std::move(options)),
      directory_(context, {.parameters = options_.parameters}),
      stand_ins_(system, directory_, exchange_) {
  PostmanState::Options postman;
  postman.directory = &directory_;
  postman.neighbours = &stand_ins_;
  postman.peer_up = [this](net::PeerId peer) { options_.met(peer, false); };
  postman.peer_down = [this](net::PeerId peer, const std::string& why) { options_.parted(peer, false, why); };
  postman.complaint = [this](const Error& error) {
    if (options_.complaint) options_.complaint(error.text);
  };
  postman_ = spawn_postman(system, std::move(postman));
}

NodePost::~NodePost() { exchange_.close(); }

FeederHandle NodePost::feeder(NodeNumber node) {
  const std::lock_guard lock(feeders_mutex_);
  auto& feeder = feeders_[node];
  if (!feeder) feeder = stand_in<FeederHandle>(feeder_at(node));
  return feeder;
}

void NodePost::close() {
  {
    const std::lock_guard lock(feeders_mutex_);
    feeders_.clear();
  }
  stand_ins_.clear();
  directory_.clear();
  dismiss(std::exchange(postman_, {}));
}

Result<std::vector<std::string>> NodePost::open_data(const Config& config, const DataOptions& options) {
  ParcelReceiver::Options receiver;
  receiver.directory = &directory_;
  receiver.neighbours = &stand_ins_;
  receiver.sizes = {options.floats};
  const auto members = config.topology.workers + config.topology.tree.leader_count();
  receiver.buffers_max = vectors_spare + vectors_each * members;
  receiver.opened = [this](net::PeerId peer) { options_.met(peer, true); };
  receiver.lost = [this](net::PeerId peer, const std::string& why) { options_.parted(peer, true, why); };
  receiver.complaint = [this](net::PeerId, const Error& error) {
    if (options_.complaint) options_.complaint(error.text);
  };
  receiver.wrong_size = [this](net::PeerId peer, std::size_t floats) {
    if (options_.complaint) {
      options_.complaint("node " + std::to_string(peer.node.value) + " sends vectors of " +
                         std::to_string(floats) + " numbers, which this run does not have: it is shut out");
    }
    fence(peer);
  };
  receiver_ = std::make_unique<ParcelReceiver>(std::move(receiver));
  net::AsioExchange::Options exchange{{options.host, 0},
                                      options.credentials,
                                      run_bytes(options.run),
                                      {context_.node, context_.incarnation},
                                      config.net.silence,
                                      config.net.chunk_kib * 1024,
                                      options.floats,
                                      true,
                                      64,
                                      *receiver_};
  auto opened = net::AsioExchange::open(std::move(exchange));
  if (!opened) return opened.error();
  exchange_.put(std::move(*opened));
  return advertised(options.host, exchange_.local().port);
}

void NodePost::fence(net::PeerId peer) {
  directory_.fence(peer);
  exchange_.fence(peer);
}

std::vector<net::Endpoint> endpoints_of(const std::vector<std::string>& texts) {
  std::vector<net::Endpoint> endpoints;
  for (const auto& text : texts) {
    if (auto endpoint = net::parse_endpoint(text)) endpoints.push_back(std::move(*endpoint));
  }
  return endpoints;
}

std::vector<std::string> advertised(const std::string& host, std::uint16_t port) {
  const bool everywhere = host.empty() || host == "0.0.0.0" || host == "::";
  if (!everywhere) return {net::Endpoint{host, port}.text()};
  std::vector<std::string> texts;
  if (const auto all = net::local_addresses()) {
    for (const auto& each : net::advertisable(*all))
      texts.push_back(net::Endpoint{each.address, port}.text());
  }
  // Without a network there is nobody but this machine.
  if (texts.empty()) texts.push_back(net::Endpoint{"127.0.0.1", port}.text());
  return texts;
}

}  // namespace thalweg::actors
