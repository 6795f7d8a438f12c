#include "actors/role.hpp"
#include "tests/support/post_node.hpp"
#include "tests/unit/actors/full_bodies.hpp"

#include <caf/send.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <vector>

/// Two nodes in one process, without a network: stand-ins, directories, postmen and parcel receivers.
namespace thalweg::actors {
namespace {

using testing::full_body;
using testing::Inbox;
using testing::PostNode;
using testing::Received;

constexpr net::PeerId first_life{{7}, {2}};

bool same_bits(const Payload& one, const Payload& other) {
  return one && other && one->size() == other->size() &&
         std::memcmp(one->host().data(), other->host().data(), one->bytes()) == 0;
}

class Post : public ::testing::Test {
 protected:
  Post() {
    here.join(there);
    there.join(here);
  }

  /// What the actor at `at` of the other node gets when `body` is sent to its stand-in here.
  template <class Handle, class Body>
  void expect_arrives(Address at, const Body& body) {
    Inbox<Received> inbox;
    there.directory.register_actor(at, there.spawn<Handle>(inbox));
    here.directory.route(at, there.peer);
    const Stamp stamp = here.stamp(kind_of<Body>, ++counter);
    caf::anon_send(here.stand_in<Handle>(at), stamp, Body(body));
    const auto got = inbox.take();
    ASSERT_TRUE(got.has_value()) << kind_name(kind_of<Body>);
    EXPECT_EQ(got->stamp.id, stamp.id);
    EXPECT_EQ(got->stamp.cause, stamp.cause);
    EXPECT_EQ(got->stamp.hlc, stamp.hlc);
    EXPECT_EQ(got->stamp.term, stamp.term);
    EXPECT_EQ(got->stamp.incarnation, stamp.incarnation);
    EXPECT_EQ(got->stamp.kind, stamp.kind);
    ASSERT_TRUE(std::holds_alternative<Body>(got->body));
    const auto sent = encode(body);
    const auto came = encode(std::get<Body>(got->body));
    EXPECT_EQ(came.bytes, sent.bytes);
    ASSERT_EQ(came.payloads.size(), sent.payloads.size());
    for (std::size_t i = 0; i < sent.payloads.size(); ++i) {
      EXPECT_TRUE(sent.payloads[i] == nullptr ? came.payloads[i] == nullptr
                                              : same_bits(came.payloads[i], sent.payloads[i]));
    }
    there.directory.forget_actor(at);
  }

  /// Sends `body` from a node's life `from`, past stand-ins, to `at` of the other node.
  template <class Body>
  void send_as(net::PeerId from, Address at, const Body& body, std::uint32_t term = 3) {
    const Stamp stamp{
        MessageId::make(from.node, {5}, ++counter), {}, 1, term, from.incarnation.value, kind_of<Body>};
    auto encoded = encode(body);
    there.receiver.arrived(from, {stamp, at.packed(), std::move(encoded.bytes), std::move(encoded.payloads)});
  }

  std::uint64_t counter = 0;
  std::vector<std::size_t> sizes{8, 9, 10, 11, 12};
  PostNode there{{{2}, {9}}, sizes};
  PostNode here{first_life, sizes};
};

TEST_F(Post, CarriesEveryBodyWithItsStampToWhomItIsFor) {
  const auto member = here.stand_in<MemberHandle>(worker_at(99));
  expect_arrives<MemberHandle>(worker_at(1), full_body<Parameters>());
  expect_arrives<MemberHandle>(worker_at(1), full_body<Slowest>());
  expect_arrives<WorkerHandle>(worker_at(1), full_body<Pull>());
  expect_arrives<WorkerHandle>(worker_at(1), full_body<Stop>());
  expect_arrives<AggregatorHandle>(leader_at(0), full_body<Contribution>());
  expect_arrives<AggregatorHandle>(leader_at(0), full_body<Roster>(member));
  expect_arrives<AggregatorHandle>(root_at(), full_body<Progress>());
  expect_arrives<AggregatorHandle>(root_at(), full_body<Drained>());
  expect_arrives<AggregatorHandle>(root_at(), DataSpent{});
  expect_arrives<FeederHandle>(feeder_at({2}), full_body<Lease>());
  expect_arrives<SchedulerHandle>(scheduler_at(), full_body<Left>());
  expect_arrives<SchedulerHandle>(scheduler_at(), full_body<Served>());
  expect_arrives<SchedulerHandle>(scheduler_at(), full_body<Fenced>());
  expect_arrives<SupervisorHandle>(supervisor_at({2}), full_body<Failed>());
  expect_arrives<SupervisorHandle>(supervisor_at({2}), full_body<Stopped>());
}

TEST_F(Post, KeepsNullVectorsAndSendsThemTheSameWay) {
  expect_arrives<AggregatorHandle>(leader_at(0), Contribution{});
  Parameters parameters;
  parameters.moves = testing::awkward_vector(8);
  expect_arrives<MemberHandle>(worker_at(1), parameters);
  EXPECT_EQ(here.exchange.sent(), 2U) << "a contribution without a vector must not pass one with";
}

TEST_F(Post, KeepsTheOrderOfOneSender) {
  Inbox<Received> inbox;
  there.directory.register_actor(root_at(), there.spawn<AggregatorHandle>(inbox));
  here.directory.route(root_at(), there.peer);
  const auto root = here.stand_in<AggregatorHandle>(root_at());
  for (std::uint64_t i = 1; i <= 500; ++i) {
    Progress progress;
    progress.iterations = i;
    caf::anon_send(root, here.stamp(MessageKind::progress, i), progress);
  }
  for (std::uint64_t i = 1; i <= 500; ++i) {
    const auto got = inbox.take();
    ASSERT_TRUE(got.has_value());
    EXPECT_EQ(std::get<Progress>(got->body).iterations, i);
  }
}

TEST_F(Post, KeepsAFewMessagesForActorsThatAreToCome) {
  for (std::uint64_t i = 0; i < 6; ++i)
    send_as(first_life, leader_at(4), Progress{worker_id(1), i, {}, false});
  EXPECT_EQ(there.directory.counts().waiting, 4U);
  EXPECT_EQ(there.directory.counts().unaddressed, 2U) << "the bound is four";
  Inbox<Received> inbox;
  there.directory.register_actor(leader_at(4), there.spawn<AggregatorHandle>(inbox));
  for (std::uint64_t i = 0; i < 4; ++i) {
    const auto got = inbox.take();
    ASSERT_TRUE(got.has_value());
    EXPECT_EQ(std::get<Progress>(got->body).iterations, i);
  }
  EXPECT_EQ(there.directory.counts().waiting, 0U);
  there.directory.forget_actor(leader_at(4));
  send_as(first_life, leader_at(4), Progress{});
  EXPECT_EQ(there.directory.counts().waiting, 0U) << "an actor that has ended is not waited for";
  EXPECT_EQ(there.directory.counts().unaddressed, 3U);
}

TEST_F(Post, DropsWhatAnOldLifeOfANodeSends) {
  Inbox<Received> inbox;
  there.directory.register_actor(root_at(), there.spawn<AggregatorHandle>(inbox));
  send_as(first_life, leader_at(4), Progress{});  // waits
  constexpr net::PeerId second_life{{7}, {3}};
  there.directory.fence(first_life);
  EXPECT_EQ(there.directory.counts().from_fenced, 1U) << "what waited goes, too";
  EXPECT_EQ(there.directory.counts().waiting, 0U);
  send_as(first_life, root_at(), full_body<Contribution>());
  send_as({{7}, {1}}, root_at(), Progress{});
  EXPECT_EQ(there.directory.counts().from_fenced, 3U);
  send_as(second_life, root_at(), Progress{});
  EXPECT_TRUE(inbox.take().has_value());
  EXPECT_EQ(inbox.size(), 0U);
  EXPECT_FALSE(there.directory.reached(first_life, here.postman)) << "it has to come back as another";
  EXPECT_FALSE(there.directory.postman_of(first_life));
}

TEST_F(Post, ANewLifeEndsTheOldOne) {
  EXPECT_TRUE(there.directory.reached({{7}, {3}}, here.postman));
  send_as(first_life, root_at(), Progress{});
  EXPECT_EQ(there.directory.counts().from_fenced, 1U);
}

TEST_F(Post, DropsLowerTerms) {
  there.directory.follow_term(4);
  send_as(first_life, root_at(), Progress{}, 3);
  EXPECT_EQ(there.directory.counts().from_lower_term, 1U);
  send_as(first_life, root_at(), Progress{}, 4);
  send_as(first_life, root_at(), Progress{}, 5);
  EXPECT_EQ(there.directory.counts().waiting, 2U);
  there.directory.follow_term(2);
  send_as(first_life, root_at(), Progress{}, 3);
  EXPECT_EQ(there.directory.counts().from_lower_term, 2U) << "terms do not fall";
}

TEST_F(Post, DropsAStampThatIsNotItsSenders) {
  const Stamp stamp = here.stamp(MessageKind::data_spent);
  there.receiver.arrived({{8}, {2}}, {stamp, root_at().packed(), encode(DataSpent{}).bytes, {}});
  EXPECT_EQ(there.directory.counts().from_another, 1U);
}

TEST_F(Post, CountsWhatNobodyCanRead) {
  Inbox<Received> inbox;
  there.directory.register_actor(feeder_at({2}), there.spawn<FeederHandle>(inbox));
  there.receiver.arrived(first_life, {here.stamp(MessageKind::lease), feeder_at({2}).packed(), {}, {}});
  EXPECT_EQ(there.complaints.take(), "lease cannot be read: it is empty");
  EXPECT_EQ(there.directory.counts().unreadable, 1U);
  send_as(first_life, feeder_at({2}), Progress{});
  EXPECT_EQ(there.directory.counts().unreadable, 2U) << "no feeder takes progress";
  auto encoded = encode(DataSpent{});
  there.receiver.arrived(first_life,
                         {here.stamp(MessageKind::data_spent), ~std::uint64_t{0}, encoded.bytes, {}});
  EXPECT_EQ(there.directory.counts().unaddressed, 1U);
}

TEST_F(Post, CountsWhatFindsNoWay) {
  const auto root = here.stand_in<AggregatorHandle>(root_at());
  caf::anon_send(root, here.stamp(MessageKind::progress), Progress{});
  here.directory.route(root_at(), {{55}, {1}});
  caf::anon_send(root, here.stamp(MessageKind::progress), Progress{});
  for (int i = 0; i < 1000 && here.directory.counts().unsent < 2; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(here.directory.counts().unsent, 2U);
}

TEST_F(Post, LandsVectorsOnlyWhereTheRunHasMemory) {
  EXPECT_EQ(there.receiver.land(first_life, 1'000'000'000).vector, nullptr);
  EXPECT_EQ(there.receiver.land(first_life, 0).vector, nullptr);
  EXPECT_EQ(there.complaints.take(), "wrong size 1000000000");
  EXPECT_EQ(there.complaints.size(), 0U) << "once";
  auto one = there.receiver.land(first_life, 8);
  ASSERT_TRUE(one.vector);
  EXPECT_EQ(one.values.size(), 8U);
  auto two = there.receiver.land(first_life, 8);
  ASSERT_TRUE(two.vector);
  EXPECT_EQ(there.receiver.land(first_life, 8).vector, nullptr) << "two of a size";
  EXPECT_TRUE(there.receiver.land(first_life, 9).vector);
  one = {};
  EXPECT_TRUE(there.receiver.land(first_life, 8).vector);
  EXPECT_EQ(there.receiver.counters(8).allocated, 2U);
}

TEST_F(Post, KnowsMembersOfThisNodeAndStandsInForOthers) {
  Inbox<Received> inbox;
  const auto local = here.spawn<WorkerHandle>(inbox);
  here.directory.register_actor(worker_at(0), local);
  EXPECT_EQ(here.stand_ins.member(worker_id(0)), local);
  const auto other = here.stand_ins.member(worker_id(1));
  EXPECT_EQ(here.stand_ins.member(worker_id(1)), other);
  EXPECT_NE(here.stand_ins.member(worker_id(2)), other);

  // It turns out to live here.
  here.directory.register_actor(worker_at(1), here.spawn<WorkerHandle>(inbox));
  caf::anon_send(other, here.stamp(MessageKind::slowest), Slowest{12});
  const auto got = inbox.take();
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(std::get<Slowest>(got->body).iterations, 12U);
}

using StandInDeathTest = Post;
TEST_F(StandInDeathTest, IsABugForBodiesThatStayInTheirNode) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        const auto worker = here.stand_in<WorkerHandle>(worker_at(3));
        caf::anon_send(worker, here.stamp(MessageKind::step_done), StepDone{});
        std::this_thread::sleep_for(std::chrono::seconds(10));
      },
      "step_done never leaves its node, but is sent to w3");
}

}  // namespace
}  // namespace thalweg::actors
