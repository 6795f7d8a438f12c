#include "runtime/config/call.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace thalweg::config {
namespace {

Call parsed(const std::string& text) {
  auto call = parse_call(text);
  if (!call) {
    ADD_FAILURE() << text << ": " << call.error().text;
    return {};
  }
  return *call;
}

std::string complaint(const std::string& text) {
  const auto call = parse_call(text);
  if (call.ok()) return "accepted";
  EXPECT_EQ(call.error().code, ErrorCode::invalid);
  return call.error().text;
}

TEST(Call, IsANameWithOrWithoutNumbers) {
  EXPECT_EQ(parsed("all"), (Call{"all", {}}));
  EXPECT_EQ(parsed("local_sgd(8)"), (Call{"local_sgd", {8}}));
  EXPECT_EQ(parsed("quorum(3, 50)"), (Call{"quorum", {3, 50}}));
  EXPECT_EQ(parsed("mix(0.25)"), (Call{"mix", {0.25}}));
  EXPECT_EQ(parsed("mix(-1e-3)"), (Call{"mix", {-1e-3}}));
}

TEST(Call, TakesSpacesAroundItsParts) {
  EXPECT_EQ(parsed("  quorum ( 3 ,50 ) "), (Call{"quorum", {3, 50}}));
  EXPECT_EQ(parsed(" all "), (Call{"all", {}}));
}

TEST(Call, ReadsBackAsItIsWritten) {
  for (const std::string text : {"all", "stale(3)", "quorum(3, 50)", "mix(0.25)", "mix(1e-09)"}) {
    EXPECT_EQ(call_text(parsed(text)), text);
  }
}

TEST(Call, SaysWhatIsWrongWithItsName) {
  EXPECT_EQ(complaint(""), "'' names nothing: give a name, as all or stale(3)");
  EXPECT_EQ(complaint("(3)"), "'(3)' names nothing: give a name, as all or stale(3)");
  for (const std::string text : {"Any", "3", "two words", "any)", "any,all", "an-y(3)", "_any"}) {
    EXPECT_EQ(complaint(text),
              "'" + text + "' is no name: give small letters, with numbers in brackets, as all or stale(3)");
  }
  EXPECT_EQ(complaint("any\n"),
            "'any\\x0a' is no name: give small letters, with numbers in brackets, as all or stale(3)");
}

TEST(Call, SaysWhatIsWrongWithItsBrackets) {
  for (const std::string text : {"stale(3", "stale(3) ever", "stale(3))", "stale((3))"}) {
    EXPECT_EQ(complaint(text),
              "'" + text + "' does not end with its one closing bracket: write it as stale(3)");
  }
  EXPECT_EQ(complaint("stale()"), "'stale()' lacks a number in its brackets: give one, or leave them out");
  EXPECT_EQ(complaint("quorum(3,)"),
            "'quorum(3,)' lacks a number in its brackets: give one, or leave them out");
}

TEST(Call, SaysWhatIsWrongWithItsNumbers) {
  for (const std::string text :
       {"stale(three)", "stale(3s)", "stale(nan)", "stale(inf)", "stale(1e999)", "stale(3 4)", "stale((3)"}) {
    EXPECT_EQ(complaint(text),
              "'" + text + "' holds what is no number in its brackets: write it as stale(3)");
  }
}

}  // namespace
}  // namespace thalweg::config
