#include "actors/codec.hpp"

#include "actors/address.hpp"
#include "tests/unit/actors/full_bodies.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

namespace thalweg::actors {
namespace {

using testing::full_body;

/// Knows one member handle, which it gives to whoever is asked for, and notes who that was.
struct OneNeighbour : Neighbours {
  MemberHandle handle;
  std::vector<MemberId> asked;
  MemberHandle member(MemberId id) override {
    asked.push_back(id);
    return handle;
  }
};

MemberHandle::behavior_type idle() {
  return {[](const Stamp&, const Parameters&) {}, [](const Stamp&, const Slowest&) {},
          [](const Stamp&, const Pull&) {}, [](const Stamp&, const Stop&) {}};
}

template <class Body>
class EveryBody : public ::testing::Test {
 protected:
  EveryBody() { neighbours.handle = system.spawn(idle); }

  caf::actor_system_config config;
  caf::actor_system system{config};
  OneNeighbour neighbours;
};

template <class Variant>
struct TypesOf;
template <class... Bodies>
struct TypesOf<std::variant<Bodies...>> {
  using type = ::testing::Types<Bodies...>;
};
TYPED_TEST_SUITE(EveryBody, TypesOf<TravellingBody>::type);

TYPED_TEST(EveryBody, ComesBackWholeAndWritesTheSameAgain) {
  const auto body = full_body<TypeParam>(this->neighbours.handle);
  const auto encoded = encode(body);
  auto decoded = decode(kind_of<TypeParam>, encoded.bytes, encoded.payloads, this->neighbours);
  ASSERT_TRUE(decoded.ok()) << decoded.error().text;
  ASSERT_TRUE(std::holds_alternative<TypeParam>(*decoded));
  const auto again = encode(std::get<TypeParam>(*decoded));
  EXPECT_EQ(again.bytes, encoded.bytes);
  EXPECT_EQ(again.payloads, encoded.payloads) << "the vectors themselves are not touched";
  if constexpr (!std::is_empty_v<TypeParam>) {
    EXPECT_NE(encode(TypeParam{}).bytes, encoded.bytes);
  }
}

TYPED_TEST(EveryBody, EmptyComesBackEmpty) {
  const auto encoded = encode(TypeParam{});
  auto decoded = decode(kind_of<TypeParam>, encoded.bytes, encoded.payloads, this->neighbours);
  ASSERT_TRUE(decoded.ok()) << decoded.error().text;
  EXPECT_EQ(encode(std::get<TypeParam>(*decoded)).bytes, encoded.bytes);
}

TYPED_TEST(EveryBody, CutShortOrTooLongIsAnError) {
  const auto encoded = encode(full_body<TypeParam>(this->neighbours.handle));
  for (std::size_t length = 0; length < encoded.bytes.size(); ++length) {
    const auto cut = std::span(encoded.bytes).first(length);
    const auto decoded = decode(kind_of<TypeParam>, cut, encoded.payloads, this->neighbours);
    ASSERT_FALSE(decoded.ok()) << length << " of " << encoded.bytes.size() << " bytes were enough";
    EXPECT_EQ(decoded.error().code, ErrorCode::corrupt);
  }
  auto longer = encoded.bytes;
  longer.push_back({});
  EXPECT_FALSE(decode(kind_of<TypeParam>, longer, encoded.payloads, this->neighbours).ok());
  auto more = encoded.payloads;
  more.push_back(testing::awkward_vector());
  EXPECT_FALSE(decode(kind_of<TypeParam>, encoded.bytes, more, this->neighbours).ok());
  if (!encoded.payloads.empty()) {
    EXPECT_FALSE(decode(kind_of<TypeParam>, encoded.bytes, {}, this->neighbours).ok());
  }
}

TYPED_TEST(EveryBody, OfAnotherFormatIsAMismatch) {
  auto encoded = encode(full_body<TypeParam>(this->neighbours.handle));
  encoded.bytes.front() = std::byte{200};
  const auto decoded = decode(kind_of<TypeParam>, encoded.bytes, encoded.payloads, this->neighbours);
  ASSERT_FALSE(decoded.ok());
  EXPECT_EQ(decoded.error().code, ErrorCode::mismatch);
  EXPECT_NE(decoded.error().text.find("format 200"), std::string::npos) << decoded.error().text;
}

/// Flips, overwrites, cuts and repeats bytes: whatever comes out is a body or an error, and a body that comes
/// out can be written.
TYPED_TEST(EveryBody, DamagedNeverDoesMoreThanFail) {
  const auto encoded = encode(full_body<TypeParam>(this->neighbours.handle));
  std::mt19937_64 random(20261201);
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  constexpr int mutations = 7000;  // of each body, so 10^5 in all
  int read = 0;
  for (int i = 0; i < mutations; ++i) {
    auto bytes = encoded.bytes;
    for (std::size_t change = 0; change <= below(3); ++change) {
      const std::size_t at = below(bytes.size());
      switch (below(5)) {
        case 0:
          bytes[at] ^= static_cast<std::byte>(1U << below(8));
          break;
        case 1:
          bytes[at] = static_cast<std::byte>(random());
          break;
        case 2:
          bytes.resize(at + 1);
          break;
        case 3:
          bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), 1 + below(16), std::byte{0xff});
          break;
        default:
          for (std::size_t k = at; k < std::min(at + 4, bytes.size()); ++k) bytes[k] = std::byte{0xff};
      }
    }
    const auto decoded = decode(kind_of<TypeParam>, bytes, encoded.payloads, this->neighbours);
    if (!decoded.ok()) continue;
    ++read;
    EXPECT_EQ(encode(std::get<TypeParam>(*decoded)).bytes, bytes) << "two encodings of one body";
  }
  EXPECT_LT(read, mutations);
}

class Codec : public ::testing::Test {
 protected:
  OneNeighbour nobody;
};

TEST_F(Codec, KeepsTheOrderOfTheVectorsOfParameters) {
  auto sent = full_body<Parameters>();
  auto encoded = encode(sent);
  auto decoded = decode(MessageKind::parameters, encoded.bytes, encoded.payloads, nobody);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(std::get<Parameters>(*decoded).payload, sent.payload);
  EXPECT_EQ(std::get<Parameters>(*decoded).moves, sent.moves);
  sent.payload = nullptr;
  encoded = encode(sent);
  ASSERT_EQ(encoded.payloads.size(), 2U) << "a null vector keeps its place";
  decoded = decode(MessageKind::parameters, encoded.bytes, encoded.payloads, nobody);
  EXPECT_EQ(std::get<Parameters>(*decoded).payload, nullptr);
  EXPECT_EQ(std::get<Parameters>(*decoded).moves, sent.moves);
}

TEST_F(Codec, FindsTheMembersOfARosterByTheirIds) {
  Roster roster;
  roster.added = {{worker_id(3), {}}, {leader_id(1), {}}};
  const auto encoded = encode(roster);
  caf::actor_system_config config;
  caf::actor_system system(config);
  OneNeighbour one;
  one.handle = system.spawn(idle);
  const auto decoded = decode(MessageKind::roster, encoded.bytes, {}, one);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(one.asked, (std::vector{worker_id(3), leader_id(1)}));
  EXPECT_EQ(std::get<Roster>(*decoded).added[1].handle, one.handle);

  const auto unknown = decode(MessageKind::roster, encoded.bytes, {}, nobody);
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().text.find("w3"), std::string::npos) << unknown.error().text;
}

TEST_F(Codec, DoesNotAllocateWhatABodyClaims) {
  std::vector<std::byte> bytes{std::byte{1}};
  bytes.insert(bytes.end(), 4, std::byte{0xff});  // 2^32 - 1 rounds of a lease, or letters of a name
  EXPECT_FALSE(decode(MessageKind::lease, bytes, {}, nobody).ok());
  EXPECT_FALSE(decode(MessageKind::stopped, bytes, {}, nobody).ok());
}

TEST_F(Codec, RefusesWhatDoesNotTravel) {
  for (std::uint16_t kind = 0; kind < 100; ++kind) {
    const auto decoded = decode(static_cast<MessageKind>(kind), {}, {}, nobody);
    ASSERT_FALSE(decoded.ok());
  }
  const auto decoded = decode(MessageKind::step_done, {}, {}, nobody);
  EXPECT_EQ(decoded.error().text, "step_done does not travel between nodes");
}

/// The worked example of actors/README.md.
TEST_F(Codec, WritesWhatItsFormatSays) {
  const std::vector<int> expected{1, 0x0c, 3, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0};
  std::vector<int> bytes;
  for (const auto byte : encode(Pull{Round{780}, Version{258}}).bytes)
    bytes.push_back(static_cast<int>(byte));
  EXPECT_EQ(bytes, expected);
}

TEST(Address, IsPackedAndNamed) {
  const std::vector<std::pair<Address, std::string>> all{{worker_at(3), "w3"},
                                                         {leader_at(0), "g0"},
                                                         {root_at(), "root"},
                                                         {scheduler_at(), "scheduler"},
                                                         {feeder_at({2}), "feeder n2"},
                                                         {supervisor_at({2}), "supervisor n2"},
                                                         {worker_at(0xffff'ffff), "w4294967295"}};
  std::set<std::uint64_t> packed;
  for (const auto& [address, text] : all) {
    EXPECT_EQ(address.text(), text);
    EXPECT_EQ(Address::unpacked(address.packed()), address);
    packed.insert(address.packed());
  }
  EXPECT_EQ(packed.size(), all.size());
  EXPECT_EQ(Address::unpacked(std::uint64_t{6} << 32), std::nullopt);
  EXPECT_EQ(Address::unpacked(~std::uint64_t{0}), std::nullopt);
  EXPECT_EQ(address_of(worker_id(7)), worker_at(7));
  EXPECT_EQ(address_of(leader_id(7)), leader_at(7));
  EXPECT_EQ(address_of(root_id()), root_at());
}

}  // namespace
}  // namespace thalweg::actors
