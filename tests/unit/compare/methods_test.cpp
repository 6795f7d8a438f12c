#include "tools/compare/methods.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace thalweg::compare {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(SplitList, SplitsOutsideBracketsAndQuotes) {
  EXPECT_THAT(split_list("ssgd, asp ,inhad(2)"), ElementsAre("ssgd", "asp", "inhad(2)"));
  EXPECT_THAT(split_list("a(1, 2),b=[3, 4],c={x = 1, y = 2},d='e,f'"),
              ElementsAre("a(1, 2)", "b=[3, 4]", "c={x = 1, y = 2}", "d='e,f'"));
  EXPECT_THAT(split_list("a,,b,"), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split_list("  "), IsEmpty());
}

TEST(ParseWith, ReadsAMethodAndItsSettings) {
  const auto own = parse_with("inhad(2): train.lr=0.1, train.batch=[16, 48]");
  ASSERT_TRUE(own);
  EXPECT_EQ(own->method, "inhad(2)");
  EXPECT_THAT(own->settings, ElementsAre(Setting{"train.lr", "0.1"}, Setting{"train.batch", "[16, 48]"}));
}

TEST(ParseWith, SaysWhatWouldBeRight) {
  for (const char* text : {"inhad(2)", ":train.lr=1", "asp:", "asp:lr=1", "asp:train.lr"}) {
    const auto own = parse_with(text);
    ASSERT_FALSE(own) << text;
    EXPECT_EQ(own.error().code, ErrorCode::invalid);
    EXPECT_THAT(own.error().text, HasSubstr("for example")) << text;
  }
}

TEST(ParseWith, RefusesWhatWouldBeAnotherJob) {
  for (const char* key : {"run.seed", "model.name", "data.samples", "train.epochs", "train.steps",
                          "stop.max_samples", "sync.method", "emulate.step", "eval.on"}) {
    const auto own = parse_with(std::string("asp:") + key + "=1");
    ASSERT_FALSE(own) << key;
    EXPECT_THAT(own.error().text, HasSubstr(std::string(key) + " is the same for all methods"));
  }
}

TEST(MakeContestants, OneWithSettingsOfItsOwnIsFollowedByAnEqualOne) {
  const auto own = parse_with("inhad(2):train.lr=0.1");
  const auto contestants = make_contestants("ssgd,inhad( 2 )", {*own}, true);
  ASSERT_TRUE(contestants);
  ASSERT_EQ(contestants->size(), 3U);
  EXPECT_EQ((*contestants)[1].label, "inhad(2)");
  EXPECT_EQ(settings_text((*contestants)[1].own), "train.lr=0.1");
  EXPECT_EQ((*contestants)[2].label, "inhad(2), equal settings");
  EXPECT_THAT((*contestants)[2].own, IsEmpty());
  EXPECT_EQ((*contestants)[2].colour, (*contestants)[1].colour);
  EXPECT_EQ(make_contestants("ssgd,inhad(2)", {*own}, false)->size(), 2U);
}

TEST(MakeContestants, SettingsOfTwoFlagsAddUp) {
  const auto contestants =
      make_contestants("asp", {*parse_with("asp:train.lr=0.1"), *parse_with("asp:train.momentum=0")}, false);
  EXPECT_EQ(settings_text((*contestants)[0].own), "train.lr=0.1, train.momentum=0");
}

TEST(MakeContestants, NamesWhatIsWrong) {
  const auto error = [](const std::string& methods, const std::vector<OwnSettings>& own = {}) {
    const auto contestants = make_contestants(methods, own, true);
    return contestants ? "" : contestants.error().text;
  };
  EXPECT_THAT(error(""), HasSubstr("names none"));
  EXPECT_THAT(error("ssgd,,asp"), HasSubstr("an empty name"));
  EXPECT_EQ(error("inhad(2),asp,inhad( 2)"), "--methods: inhad(2) is named twice: name each once");
  EXPECT_EQ(error("ssgd,inhad(2)", {*parse_with("inhad(3):train.lr=1")}),
            "--with inhad(3): is not among the methods: did you mean inhad(2)?");
  EXPECT_EQ(error("ssgd", {*parse_with("inhad(3):train.lr=1")}),
            "--with inhad(3): is not among the methods: add it to --methods");
}

TEST(FolderName, IsPlain) {
  EXPECT_EQ(folder_name({"", "inhad(2)", {}, 0, false}, 7), "inhad_2-seed7");
  EXPECT_EQ(folder_name({"", "local_sgd(8)", {}, 0, true}, 1), "local_sgd_8-equal-seed1");
}

TEST(RunningOrder, BeginsOneFurtherWithEachSeed) {
  EXPECT_THAT(running_order(3, 0), ElementsAre(0, 1, 2));
  EXPECT_THAT(running_order(3, 1), ElementsAre(1, 2, 0));
  EXPECT_THAT(running_order(3, 5), ElementsAre(2, 0, 1));
}

}  // namespace
}  // namespace thalweg::compare
