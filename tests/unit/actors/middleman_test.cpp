#include "actors/middleman.hpp"

#include "actors/role.hpp"
#include "runtime/net/keys.hpp"
#include "tests/support/post_node.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/actors/full_bodies.hpp"

#include <caf/send.hpp>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

/// Nodes that talk over TLS on loopback, with keys made for the test: two actor systems in one process.
namespace thalweg::actors {
namespace {

using namespace std::chrono_literals;
using testing::full_body;
using testing::Inbox;
using testing::PostNode;
using testing::Received;

std::optional<net::Credentials> make_keys(const std::filesystem::path& folder) {
  const auto node = net::make_local_keys(folder);
  if (!node.ok()) {
    ADD_FAILURE() << node.error().text;
    return {};
  }
  const auto found = net::find_credentials(*node);
  if (!found.ok()) {
    ADD_FAILURE() << found.error().text;
    return {};
  }
  return *found;
}

/// A socket of its own, closed at the end.
struct Socket {
  Socket() : number(socket(AF_INET, SOCK_STREAM, 0)) {}
  ~Socket() { close(number); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  static sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
  }
  bool connect_to(std::uint16_t port) const {
    const auto address = loopback(port);
    return connect(number, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  /// A port that takes connections and says nothing; with `backlog` < 0 one that takes none.
  std::uint16_t bind_port(int backlog) const {
    auto address = loopback(0);
    socklen_t size = sizeof address;
    bind(number, reinterpret_cast<const sockaddr*>(&address), size);
    getsockname(number, reinterpret_cast<sockaddr*>(&address), &size);
    if (backlog >= 0) listen(number, backlog);
    return ntohs(address.sin_port);
  }
  int number;
};

class Middleman : public ::testing::Test {
 protected:
  std::unique_ptr<PostNode> make_node(net::PeerId id) {
    return std::make_unique<PostNode>(id, std::vector<std::size_t>{8, 9, 10, 11, 12}, credentials);
  }
  /// `from` dials `to`; returns when both know each other.
  void introduce(PostNode& from, PostNode& to) {
    const auto port = publish(to.system, to.postman, {"127.0.0.1", 0});
    ASSERT_TRUE(port.ok()) << port.error().text;
    dial(from.system, from.postman, {{"127.0.0.1", *port}}, 5s,
         [](const Error& error) { ADD_FAILURE() << error.text; });
    EXPECT_EQ(from.up.take(), to.peer);
    EXPECT_EQ(to.up.take(), from.peer);
    from.exchange.join(to.exchange);
    to.exchange.join(from.exchange);
  }

  TempFolder folder;
  std::optional<net::Credentials> credentials = make_keys(folder.path());
};

TEST_F(Middleman, KeepsNoMoreStrangersThanItHasRoomFor) {
  const auto node = make_node({{0}, {1}});
  const auto port = publish(node->system, node->postman, {"127.0.0.1", 0});
  ASSERT_TRUE(port.ok()) << port.error().text;
  std::vector<std::unique_ptr<Socket>> strangers;
  for (int i = 0; i < 300; ++i) {
    strangers.push_back(std::make_unique<Socket>());
    ASSERT_TRUE(strangers.back()->connect_to(*port));
  }
  const timeval limit{.tv_sec = 10, .tv_usec = 0};
  char byte = 0;
  for (const std::size_t old : {0, 43}) {
    setsockopt(strangers[old]->number, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    EXPECT_EQ(recv(strangers[old]->number, &byte, 1, 0), 0) << "number " << old << " made room";
  }
  EXPECT_EQ(recv(strangers[299]->number, &byte, 1, MSG_DONTWAIT), -1) << "the newest one may stay";
  const auto other = make_node({{1}, {1}});
  dial(other->system, other->postman, {{"127.0.0.1", *port}}, 5s,
       [](const Error& error) { ADD_FAILURE() << error.text; });
  EXPECT_EQ(other->up.take(), node->peer);
}

TEST_F(Middleman, CarriesAContributionUpAndParametersDownToTheBit) {
  const auto root_node = make_node({{0}, {1}});
  const auto node = make_node({{1}, {1}});
  introduce(*node, *root_node);
  Inbox<Received> at_root;
  Inbox<Received> at_worker;
  root_node->directory.register_actor(root_at(), root_node->spawn<AggregatorHandle>(at_root));
  root_node->directory.route(worker_at(3), node->peer);
  node->directory.register_actor(worker_at(3), node->spawn<WorkerHandle>(at_worker));
  node->directory.route(root_at(), root_node->peer);
  const auto root = node->stand_in<AggregatorHandle>(root_at());
  const auto worker = root_node->stand_ins.member(worker_id(3));

  const auto contribution = full_body<Contribution>();
  const auto stamp = node->stamp(MessageKind::contribution);
  caf::anon_send(root, stamp, Contribution(contribution));
  auto got = at_root.take();
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->stamp.id, stamp.id);
  EXPECT_EQ(got->stamp.cause, stamp.cause);
  const auto& came = std::get<Contribution>(got->body);
  EXPECT_EQ(encode(came).bytes, encode(contribution).bytes);
  ASSERT_TRUE(came.payload);
  EXPECT_EQ(std::memcmp(came.payload->host().data(), contribution.payload->host().data(),
                        contribution.payload->bytes()),
            0);

  const auto parameters = full_body<Parameters>();
  caf::anon_send(worker, root_node->stamp(MessageKind::parameters), Parameters(parameters));
  got = at_worker.take();
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(encode(std::get<Parameters>(got->body)).bytes, encode(parameters).bytes);

  // What has no vector goes over CAF, both ways, whoever opened the connection.
  const auto progress = full_body<Progress>();
  caf::anon_send(root, node->stamp(MessageKind::progress), Progress(progress));
  got = at_root.take();
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(encode(std::get<Progress>(got->body)).bytes, encode(progress).bytes);
  caf::anon_send(worker, root_node->stamp(MessageKind::pull), Pull{{4}, {5}});
  got = at_worker.take();
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(std::get<Pull>(got->body).version, Version{5});
}

TEST_F(Middleman, DropsWhatAnOldLifeSendsAfterANewOneHasCome) {
  const auto root_node = make_node({{0}, {1}});
  const auto old_life = make_node({{1}, {1}});
  const auto new_life = make_node({{1}, {2}});
  introduce(*old_life, *root_node);
  introduce(*new_life, *root_node);
  Inbox<Received> at_root;
  root_node->directory.register_actor(root_at(), root_node->spawn<AggregatorHandle>(at_root));
  for (auto* node : {old_life.get(), new_life.get()}) {
    node->directory.route(root_at(), root_node->peer);
    Progress progress;
    progress.iterations = node->peer.incarnation.value;
    caf::anon_send(node->stand_in<AggregatorHandle>(root_at()), node->stamp(MessageKind::progress), progress);
  }
  const auto got = at_root.take();
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(std::get<Progress>(got->body).iterations, 2U);
  for (int i = 0; i < 1000 && root_node->directory.counts().from_fenced == 0; ++i)
    std::this_thread::sleep_for(2ms);
  EXPECT_EQ(root_node->directory.counts().from_fenced, 1U);
  EXPECT_EQ(at_root.size(), 0U);
}

TEST_F(Middleman, NoticesThatANodeIsGone) {
  const auto root_node = make_node({{0}, {1}});
  auto node = make_node({{1}, {1}});
  introduce(*node, *root_node);
  auto other = make_node({{2}, {1}});
  introduce(*root_node, *other);
  node.reset();
  auto lost = root_node->down.take();
  ASSERT_TRUE(lost.has_value());
  EXPECT_EQ(lost->peer, (net::PeerId{{1}, {1}}));
  EXPECT_FALSE(lost->why.empty());
  EXPECT_FALSE(root_node->directory.postman_of({{1}, {1}}));
  EXPECT_TRUE(root_node->directory.postman_of({{2}, {1}})) << "the other is still there";
  other.reset();
  lost = root_node->down.take();
  ASSERT_TRUE(lost.has_value());
  EXPECT_EQ(lost->peer, (net::PeerId{{2}, {1}})) << "also where this node had dialled";
}

/// With CAF's own actor for TLS, what is read next after a node's death ends the connection it is read from.
TEST_F(Middleman, OneNodesDeathCutsNoOther) {
  const auto root_node = make_node({{0}, {1}});
  const auto other = make_node({{1}, {1}});
  introduce(*root_node, *other);
  Inbox<Received> at_root;
  root_node->directory.register_actor(root_at(), root_node->spawn<AggregatorHandle>(at_root));
  other->directory.route(root_at(), root_node->peer);
  const auto root = other->stand_in<AggregatorHandle>(root_at());
  for (std::uint32_t life = 1; life <= 5; ++life) {
    auto node = make_node({{2}, {life}});
    introduce(*node, *root_node);
    node.reset();
    auto lost = root_node->down.take();
    ASSERT_TRUE(lost.has_value());
    ASSERT_EQ(lost->peer, (net::PeerId{{2}, {life}})) << lost->why;
    for (std::uint64_t i = 0; i < 5; ++i) {
      caf::anon_send(root, other->stamp(MessageKind::progress), Progress{worker_id(1), i, {}, false});
      const auto got = at_root.take();
      ASSERT_TRUE(got.has_value()) << "after life " << life;
      EXPECT_EQ(std::get<Progress>(got->body).iterations, i);
    }
  }
  EXPECT_EQ(other->down.size(), 0U);
  EXPECT_EQ(root_node->down.size(), 0U);
}

TEST_F(Middleman, NoticesThatAProcessWasKilled) {
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  const pid_t child = fork();  // before this process has threads
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::uint16_t port = 0;
    if (read(pipe_ends[0], &port, sizeof port) != sizeof port) _exit(1);
    const auto node = make_node({{1}, {1}});
    dial(node->system, node->postman, {{"127.0.0.1", port}}, 5s, [](const Error&) { _exit(1); });
    for (;;) pause();
  }
  const auto root_node = make_node({{0}, {1}});
  const auto port = publish(root_node->system, root_node->postman, {"127.0.0.1", 0});
  ASSERT_TRUE(port.ok());
  ASSERT_EQ(write(pipe_ends[1], &port.value(), sizeof port.value()),
            static_cast<ssize_t>(sizeof port.value()));
  EXPECT_EQ(root_node->up.take(), (net::PeerId{{1}, {1}}));
  kill(child, SIGKILL);
  const auto lost = root_node->down.take(2s);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  ASSERT_TRUE(lost.has_value());
  EXPECT_EQ(lost->peer, (net::PeerId{{1}, {1}}));
  EXPECT_EQ(lost->why, "its process or its control connection has ended");
}

TEST_F(Middleman, NodesMayDialEachOtherAgain) {
  const auto one = make_node({{0}, {1}});
  const auto two = make_node({{1}, {1}});
  introduce(*one, *two);
  const auto one_port = publish(one->system, one->postman, {"127.0.0.1", 0});
  const auto two_port = publish(two->system, two->postman, {"127.0.0.1", 0});
  ASSERT_TRUE(one_port.ok() && two_port.ok());
  for (int i = 0; i < 3; ++i) {
    for (const auto& [from, port] : {std::pair{two.get(), *one_port}, std::pair{one.get(), *two_port}}) {
      const auto found = dial_now(from->system, {{"127.0.0.1", port}}, 5s);
      ASSERT_TRUE(found.ok()) << found.error().text;
      caf::anon_send(from->postman, Greet{*found, {}});
    }
  }
  Inbox<Received> inbox;
  for (auto* node : {one.get(), two.get()}) {
    auto* other = node == one.get() ? two.get() : one.get();
    node->directory.route(leader_at(1), other->peer);
    other->directory.register_actor(leader_at(1), other->spawn<AggregatorHandle>(inbox));
    caf::anon_send(node->stand_in<AggregatorHandle>(leader_at(1)), node->stamp(MessageKind::progress),
                   Progress{});
    EXPECT_TRUE(inbox.take().has_value());
    node->directory.forget_actor(leader_at(1));
    other->directory.forget_actor(leader_at(1));
  }
  EXPECT_EQ(one->up.size() + two->up.size(), 0U) << "they knew each other";
  EXPECT_EQ(one->down.size() + two->down.size(), 0U);
}

TEST_F(Middleman, NodesThatDialEachOtherAtOnceMeetInTheEnd) {
  for (std::uint32_t life = 1; life <= 5; ++life) {
    const auto one = make_node({{0}, {life}});
    const auto two = make_node({{1}, {life}});
    const auto one_port = publish(one->system, one->postman, {"127.0.0.1", 0});
    const auto two_port = publish(two->system, two->postman, {"127.0.0.1", 0});
    ASSERT_TRUE(one_port.ok() && two_port.ok());
    // Whether both connections end, or one is left, is chance: one node tries again, the other waits for it.
    dial(one->system, one->postman, {{"127.0.0.1", *two_port}}, 5s, [&](const Error&) {
      dial(one->system, one->postman, {{"127.0.0.1", *two_port}}, 5s,
           [](const Error& error) { ADD_FAILURE() << error.text; });
    });
    dial(two->system, two->postman, {{"127.0.0.1", *one_port}}, 5s, [](const Error&) {});
    EXPECT_EQ(one->up.take(), two->peer);
    EXPECT_EQ(two->up.take(), one->peer);
    Inbox<Received> inbox;
    one->directory.register_actor(root_at(), one->spawn<AggregatorHandle>(inbox));
    two->directory.route(root_at(), one->peer);
    const auto root = two->stand_in<AggregatorHandle>(root_at());
    for (int i = 0; i < 20; ++i) {
      caf::anon_send(root, two->stamp(MessageKind::progress), Progress{});
      ASSERT_TRUE(inbox.take().has_value()) << "down: " << one->down.size() << ", " << two->down.size();
    }
    EXPECT_EQ(one->down.size() + two->down.size(), 0U);
  }
}

TEST_F(Middleman, LetsNobodyInWithKeysOfAnotherCluster) {
  const auto node = make_node({{0}, {1}});
  const auto port = publish(node->system, node->postman, {"127.0.0.1", 0});
  ASSERT_TRUE(port.ok());
  TempFolder elsewhere;
  PostNode stranger({{9}, {1}}, {8}, make_keys(elsewhere.path()));
  const auto found = dial_now(stranger.system, {{"127.0.0.1", *port}}, 2s);
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.error().text.find("keys of another cluster"), std::string::npos) << found.error().text;
  EXPECT_EQ(node->up.size(), 0U);
}

TEST_F(Middleman, SaysOfEachAddressWhyItWasNot) {
  const auto node = make_node({{0}, {1}});
  const Socket closed;
  const Socket silent;
  const std::uint16_t closed_port = closed.bind_port(-1);
  const std::uint16_t silent_port = silent.bind_port(8);
  const auto found =
      dial_now(node->system,
               {{"127.0.0.1", closed_port}, {"127.0.0.1", silent_port}, {"no-such-host.invalid", 1}}, 500ms);
  ASSERT_FALSE(found.ok());
  const std::string& text = found.error().text;
  const std::string here = "127.0.0.1:";
  EXPECT_NE(text.find(here + std::to_string(closed_port) + ": Connection refused"), std::string::npos)
      << text;
  EXPECT_NE(text.find(here + std::to_string(silent_port) + ": it does not answer as a node"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("no-such-host.invalid: no address is known"), std::string::npos) << text;
}

TEST_F(Middleman, GoesOnToTheNextAddress) {
  const auto root_node = make_node({{0}, {1}});
  const auto port = publish(root_node->system, root_node->postman, {"127.0.0.1", 0});
  ASSERT_TRUE(port.ok());
  const auto node = make_node({{1}, {1}});
  const Socket silent;
  const auto before = std::chrono::steady_clock::now();
  const auto found =
      dial_now(node->system, {{"127.0.0.1", silent.bind_port(8)}, {"127.0.0.1", *port}}, 500ms);
  EXPECT_TRUE(found.ok()) << found.error().text;
  EXPECT_LT(std::chrono::steady_clock::now() - before, 4s) << "one that does not answer blocks no other";
}

TEST_F(Middleman, ASilentStrangerKeepsNobodyOut) {
  const auto root_node = make_node({{0}, {1}});
  const auto port = publish(root_node->system, root_node->postman, {"127.0.0.1", 0});
  ASSERT_TRUE(port.ok());
  const std::array<Socket, 3> strangers;
  for (const auto& stranger : strangers) ASSERT_TRUE(stranger.connect_to(*port));
  // The 32 bytes that end a process whose port is not behind TLS, and then nothing.
  const std::array<char, 32> header{};
  ASSERT_EQ(send(strangers[0].number, header.data(), header.size(), MSG_NOSIGNAL), 32);
  const auto node = make_node({{1}, {1}});
  const auto found = dial_now(node->system, {{"127.0.0.1", *port}}, 5s);
  EXPECT_TRUE(found.ok()) << found.error().text;
}

TEST_F(Middleman, OpensNoPortWithoutKeys) {
  PostNode node(net::PeerId{{0}, {1}});
  const auto port = publish(node.system, node.postman, {"127.0.0.1", 0});
  ASSERT_FALSE(port.ok());
  EXPECT_NE(port.error().text.find("no certificate"), std::string::npos) << port.error().text;
  EXPECT_FALSE(dial_now(node.system, {{"127.0.0.1", 1}}, 1s).ok());

  SteadyClock clock;
  NodeContext context(clock, nullptr);
  auto missing = *credentials;
  missing.key = folder.path() / "nothing.key";
  const auto loaded = load_middleman(context, missing);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code, ErrorCode::not_found);
}

TEST_F(Middleman, SaysWhyItCannotListen) {
  const auto node = make_node({{0}, {1}});
  const Socket taken;
  const std::uint16_t port = taken.bind_port(1);
  const auto published = publish(node->system, node->postman, {"127.0.0.1", port});
  ASSERT_FALSE(published.ok());
  EXPECT_EQ(published.error().code, ErrorCode::io);
  EXPECT_EQ(published.error().text, "cannot listen at 127.0.0.1:" + std::to_string(port) +
                                        ": Address already in use: choose another address or port");
  EXPECT_FALSE(publish(node->system, node->postman, {"192.0.2.1", 0}).ok())
      << "not an address of this machine";
}

}  // namespace
}  // namespace thalweg::actors
