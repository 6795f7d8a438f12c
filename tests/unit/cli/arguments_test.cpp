#include "tools/cli/arguments.hpp"

#include "tools/cli/help.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace thalweg::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Command command_named(const std::string& name) {
  for (Command& command : all_commands()) {
    if (command.name == name) return command;
  }
  ADD_FAILURE() << "no command " << name;
  return {};
}

Result<Arguments> parse(const std::string& command, const std::vector<std::string>& typed) {
  return parse_arguments(command_named(command), typed);
}

std::string refusal(const std::string& command, const std::vector<std::string>& typed) {
  const Result<Arguments> arguments = parse(command, typed);
  if (arguments) return "accepted";
  EXPECT_EQ(arguments.error().code, ErrorCode::invalid);
  return arguments.error().text;
}

TEST(Arguments, KeepFlagsInTheOrderTyped) {
  const Result<Arguments> arguments =
      parse("train", {"--lr", "0.1", "job.toml", "-qv", "--workers=8", "--set", "a.b=c=d", "--lr", "0.2"});
  ASSERT_TRUE(arguments.ok());
  EXPECT_THAT(arguments->positionals, ElementsAre("job.toml"));
  EXPECT_THAT(arguments->flags,
              ElementsAre(Pair("--lr", "0.1"), Pair("--quiet", "true"), Pair("--verbose", "true"),
                          Pair("--workers", "8"), Pair("--set", "a.b=c=d"), Pair("--lr", "0.2")));
  EXPECT_TRUE(arguments->has("--quiet"));
  EXPECT_FALSE(arguments->has("--json"));
  EXPECT_EQ(arguments->value("--lr"), "0.2");
}

TEST(Arguments, EachFlagWithAKeyIsAnOverride) {
  const Result<Arguments> arguments = parse("train", {"--set", "train.lr=1", "--batch", "[1, 2]", "--json"});
  ASSERT_TRUE(arguments.ok());
  const Result<std::vector<Override>> overrides = arguments->overrides();
  ASSERT_TRUE(overrides.ok());
  ASSERT_EQ(overrides->size(), 2u);
  EXPECT_EQ((*overrides)[0].key, "train.lr");
  EXPECT_EQ((*overrides)[0].value, "1");
  EXPECT_EQ((*overrides)[0].flag, "--set");
  EXPECT_EQ((*overrides)[1].key, "train.batch");
  EXPECT_EQ((*overrides)[1].value, "[1, 2]");
  EXPECT_EQ((*overrides)[1].flag, "--batch");
}

TEST(Arguments, ASetWithoutKeyAndValueIsRefused) {
  for (const char* value : {"train.lr", "lr=1", "=1", ""}) {
    const Result<Arguments> arguments = parse("train", {"--set", value});
    ASSERT_TRUE(arguments.ok());
    EXPECT_FALSE(arguments->overrides().ok()) << value;
  }
}

TEST(Arguments, MisspeltFlagsGetTheNearestName) {
  EXPECT_EQ(refusal("train", {"--wrokers", "4"}), "--wrokers: unknown flag: did you mean --workers?");
  EXPECT_EQ(refusal("train", {"--epoch=3"}), "--epoch: unknown flag: did you mean --epochs?");
  EXPECT_EQ(refusal("train", {"--elephant"}), "--elephant: unknown flag: see thalweg train --help");
  EXPECT_EQ(refusal("train", {"-x"}), "-x: unknown flag: see thalweg train --help");
}

TEST(Arguments, ValuesAreNeededExactlyWhereTheyBelong) {
  EXPECT_EQ(refusal("train", {"--lr"}), "--lr: its value is missing: see thalweg train --help");
  EXPECT_EQ(refusal("train", {"--lr="}), "--lr: its value is missing: see thalweg train --help");
  EXPECT_EQ(refusal("train", {"--json=3"}), "--json: takes no value: see thalweg train --help");
}

TEST(Arguments, PositionalsAreCounted) {
  EXPECT_EQ(refusal("train", {"one.toml", "two.toml"}),
            "two.toml: not expected here: see thalweg train --help");
  EXPECT_EQ(refusal("eval", {}), "DIR is missing: thalweg eval needs one: see thalweg eval --help");
  EXPECT_TRUE(parse("eval", {"--help"}).ok());
  const Result<Arguments> dash = parse("init", {"-"});
  ASSERT_TRUE(dash.ok());
  EXPECT_THAT(dash->positionals, ElementsAre("-"));
  const Result<Arguments> names = parse("bench", {"sum", "--pairs", "3", "rounds", "sum"});
  ASSERT_TRUE(names.ok());
  EXPECT_THAT(names->positionals, ElementsAre("sum", "rounds", "sum"));
}

TEST(Arguments, AfterTwoDashesNothingIsAFlag) {
  const Result<Arguments> arguments = parse("init", {"--", "-odd.toml"});
  ASSERT_TRUE(arguments.ok());
  EXPECT_THAT(arguments->positionals, ElementsAre("-odd.toml"));
}

TEST(Help, FitsItsWidthAndNamesEveryFlag) {
  for (const Command& command : all_commands()) {
    const std::string text = command_help(command);
    for (const FlagGroup& group : command.groups) {
      for (const Flag& flag : group.flags) EXPECT_THAT(text, HasSubstr(flag.name()));
    }
    std::size_t start = 0;
    for (std::size_t end = 0; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
      EXPECT_LE(end - start, 96u) << text.substr(start, end - start);
    }
    EXPECT_EQ(start, text.size()) << "the text ends with a line end";
  }
}

}  // namespace
}  // namespace thalweg::cli
