#include "tools/cli/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace thalweg::cli {
namespace {

TEST(HumanNumbers, CountsAreGroupedInThousands) {
  EXPECT_EQ(human_count(0), "0");
  EXPECT_EQ(human_count(999), "999");
  EXPECT_EQ(human_count(1000), "1,000");
  EXPECT_EQ(human_count(1234567), "1,234,567");
  EXPECT_EQ(human_count(std::numeric_limits<std::uint64_t>::max()), "18,446,744,073,709,551,615");
}

TEST(HumanNumbers, ShortCountsHaveThreeDigits) {
  EXPECT_EQ(human_short(0), "0");
  EXPECT_EQ(human_short(940.4), "940");
  EXPECT_EQ(human_short(999.6), "1.00k");
  EXPECT_EQ(human_short(12345), "12.3k");
  EXPECT_EQ(human_short(123456), "123k");
  EXPECT_EQ(human_short(999600), "1.00M");
  EXPECT_EQ(human_short(4.56e6), "4.56M");
  EXPECT_EQ(human_short(5e15), "5000T");
}

TEST(HumanNumbers, BytesComeInPowersOfAThousand) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(940), "940 B");
  EXPECT_EQ(human_bytes(12345), "12.3 kB");
  EXPECT_EQ(human_bytes(4'560'000), "4.56 MB");
  EXPECT_EQ(human_bytes(78'900'000'000), "78.9 GB");
}

TEST(HumanNumbers, DurationsNeverRoundUpToASixtiethSecond) {
  EXPECT_EQ(human_seconds(0.424), "0.42 s");
  EXPECT_EQ(human_seconds(9.999), "10.0 s");
  EXPECT_EQ(human_seconds(59.94), "59.9 s");
  EXPECT_EQ(human_seconds(59.99), "1:00");
  EXPECT_EQ(human_seconds(125), "2:05");
  EXPECT_EQ(human_seconds(3725), "1:02:05");
  EXPECT_EQ(human_seconds(std::numeric_limits<double>::infinity()), "?");
  EXPECT_EQ(human_seconds(-1), "?");
}

TEST(HumanNumbers, WholeEpochsHaveNoDecimals) {
  EXPECT_EQ(human_epochs(3), "3");
  EXPECT_EQ(human_epochs(0.25), "0.25");
  EXPECT_EQ(human_epochs(100000), "100,000");
}

TEST(HumanNumbers, SharesAreShownAsPercentages) {
  EXPECT_EQ(human_percent(0.91237), "91.24 %");
  EXPECT_EQ(human_percent(1), "100.00 %");
}

TEST(ProgressBar, FillsFromTheLeftAndHasAHeadUntilItIsFull) {
  EXPECT_EQ(progress_bar(0, 12), "[          ]");
  EXPECT_EQ(progress_bar(0.55, 12), "[====>     ]");
  EXPECT_EQ(progress_bar(1, 12), "[==========]");
}

TEST(ProgressBar, StaysInItsBounds) {
  EXPECT_EQ(progress_bar(-3, 5), "[   ]");
  EXPECT_EQ(progress_bar(7, 5), "[===]");
  EXPECT_EQ(progress_bar(std::numeric_limits<double>::quiet_NaN(), 5), "[   ]");
}

ProgressView halfway() {
  ProgressView view;
  view.epoch = 1.5;
  view.epochs = 3;
  view.share = 0.5;
  view.samples_per_s = 29032;
  view.loss = 0.4321;
  view.accuracy = 0.8765;
  view.left_s = 61;
  return view;
}

TEST(ProgressLine, ShowsEverythingWhenThereIsRoom) {
  EXPECT_EQ(progress_line(halfway(), 120),
            "epoch 1.50/3  50 %  [===========>            ]  29.0k samples/s  loss 0.4321  test 87.65 %  "
            "1:01 left");
}

TEST(ProgressLine, WhatMattersLeastGoesFirst) {
  EXPECT_EQ(progress_line(halfway(), 75),
            "epoch 1.50/3  50 %  29.0k samples/s  loss 0.4321  test 87.65 %  1:01 left");
  EXPECT_EQ(progress_line(halfway(), 60), "epoch 1.50/3  50 %  29.0k samples/s  loss 0.4321  1:01 left");
  EXPECT_EQ(progress_line(halfway(), 43), "epoch 1.50/3  50 %  loss 0.4321  1:01 left");
  EXPECT_EQ(progress_line(halfway(), 32), "epoch 1.50/3  50 %  loss 0.4321");
  EXPECT_EQ(progress_line(halfway(), 12), "epoch 1.50/3");
}

TEST(ProgressLine, FitsEveryWidth) {
  for (std::size_t width = 1; width <= 200; ++width) EXPECT_LE(progress_line(halfway(), width).size(), width);
}

TEST(ProgressLine, LeavesOutWhatIsNotKnownYet) {
  ProgressView view = halfway();
  view.accuracy.reset();
  view.left_s.reset();
  EXPECT_EQ(progress_line(view, 50), "epoch 1.50/3  50 %  29.0k samples/s  loss 0.4321");
}

}  // namespace
}  // namespace thalweg::cli
