#include <thalweg/result.hpp>
#include <thalweg/version.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <variant>

namespace thalweg {
namespace {

TEST(Result, HoldsAValue) {
  Result<std::string> result(std::string("lenet5"));
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result);
  EXPECT_EQ(*result, "lenet5");
  EXPECT_EQ(result->size(), 6U);
  result.value() += "!";
  EXPECT_EQ(result.value(), "lenet5!");
}

TEST(Result, HoldsAnError) {
  const Result<int> result(Error{ErrorCode::corrupt, "truncated"});
  ASSERT_FALSE(result.ok());
  EXPECT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::corrupt);
  EXPECT_EQ(result.error().text, "truncated");
}

TEST(Result, GivesAwayWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 7);
}

TEST(Result, TheWrongHalfIsABug) {
  const Result<int> good(1);
  const Result<int> bad(Error{});
  EXPECT_THROW(static_cast<void>(good.error()), std::bad_variant_access);
  EXPECT_THROW(static_cast<void>(bad.value()), std::bad_variant_access);
}

TEST(Status, IsGoodUntilItHoldsAnError) {
  EXPECT_TRUE(Status{}.ok());
  const Status failed(Error{ErrorCode::io, "disk full"});
  EXPECT_FALSE(failed);
  EXPECT_EQ(failed.error().text, "disk full");
}

TEST(ErrorCode, OnlyWhatTheUserWroteExitsWithTwo) {
  EXPECT_EQ(exit_code_of(ErrorCode::invalid), 2);
  for (const auto code : {ErrorCode::not_found, ErrorCode::corrupt, ErrorCode::mismatch, ErrorCode::busy,
                          ErrorCode::io, ErrorCode::diverged, ErrorCode::failed}) {
    EXPECT_EQ(exit_code_of(code), 1);
  }
}

TEST(VersionText, IsThreeNumbers) {
  const auto text = version();
  EXPECT_EQ(std::count(text.begin(), text.end(), '.'), 2);
  EXPECT_EQ(text.find_first_not_of("0123456789."), std::string_view::npos);
}

}  // namespace
}  // namespace thalweg
