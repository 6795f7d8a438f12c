#include "tools/cli/display.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace thalweg::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A display that writes into a string.
struct Screen {
  explicit Screen(Terminal terminal, Detail detail = Detail::normal)
      : display(config, {terminal, detail, [this](std::string_view part) { text += part; },
                         [this] { return width; }}) {}

  void start() {
    Started started;
    started.workers = 4;
    started.leaders = 2;
    started.parameters = 61706;
    started.train_samples = 60000;
    started.budget_samples = 60000;
    started.tree = "[2, 2]";
    started.device = "host (oneDNN)";
    started.folder = "runs/lenet5-1";
    display.show(started);
  }
  void progress(double wall_s, std::uint64_t samples) {
    Progressed progressed;
    progressed.wall_s = wall_s;
    progressed.samples = samples;
    progressed.epoch = static_cast<double>(samples) / 60000;
    progressed.samples_per_s = 30000;
    progressed.loss = 0.5;
    display.show(progressed);
  }
  void evaluate(double accuracy) {
    Evaluated evaluated;
    evaluated.epoch = 1;
    evaluated.loss = 0.25;
    evaluated.accuracy = accuracy;
    evaluated.wall_s = 2;
    display.show(evaluated);
  }
  [[nodiscard]] std::ptrdiff_t count(char character) const {
    return std::count(text.begin(), text.end(), character);
  }

  Config config;
  std::string text;
  std::size_t width = 200;
  Display display;
};

TEST(Display, SaysFirstWhatIsTrained) {
  Screen screen({});
  screen.start();
  EXPECT_EQ(
      screen.text,
      "training lenet5 (61,706 parameters) on fashion_mnist (60,000 samples): 4 workers in 2 groups [2, 2], "
      "ssgd, host (oneDNN), into runs/lenet5-1\n");
}

TEST(Display, WithoutATerminalThereAreFewPlainLines) {
  Screen screen({});
  screen.start();
  screen.text.clear();
  for (int i = 1; i <= 50; ++i) screen.progress(i * 0.1, static_cast<std::uint64_t>(i) * 1000);
  EXPECT_EQ(screen.count('\n'), 2) << screen.text;
  EXPECT_THAT(screen.text, StartsWith("epoch 0.33/1  33 %  30.0k samples/s  loss 0.5000  4.00 s left\n"));
  screen.text.clear();
  screen.evaluate(0.9);
  EXPECT_EQ(screen.text, "epoch 1: test accuracy 90.00 %, loss 0.2500, after 2.00 s\n");
  screen.display.show(Ended{});
  for (const char control : {'\r', '\033', '\b'}) EXPECT_EQ(screen.count(control), 0);
}

TEST(Display, OnATerminalOneLineIsRedrawnTenTimesASecond) {
  Screen screen({.live = true, .colour = false});
  screen.start();
  screen.text.clear();
  for (int i = 1; i <= 1000; ++i) screen.progress(i * 0.001, static_cast<std::uint64_t>(i) * 60);
  EXPECT_GE(screen.count('\r'), 9);
  EXPECT_LE(screen.count('\r'), 11);
  EXPECT_EQ(screen.count('\n'), 0);
  screen.display.show(Ended{});
  EXPECT_THAT(screen.text, HasSubstr("epoch 1.00/1  100 %"));
  EXPECT_THAT(screen.text, EndsWith("\n"));
  EXPECT_EQ(screen.count('\n'), 1);
}

TEST(Display, ColoursOnlyWhereTheyAreWanted) {
  for (const bool colour : {false, true}) {
    Screen screen({.live = true, .colour = colour});
    screen.start();
    screen.progress(0.5, 30000);
    EXPECT_EQ(screen.text.find("\033[32m") != std::string::npos, colour);
  }
}

TEST(Display, LeavesTheLastColumnFree) {
  Screen screen({.live = true, .colour = false});
  screen.start();
  screen.text.clear();
  screen.width = 30;
  screen.progress(0.5, 30000);
  EXPECT_LE(screen.text.size(), std::string("\r\033[K").size() + 29);
}

TEST(Display, EvaluationsChangeTheLineAndAreLinesWhenVerbose) {
  Screen normal({.live = true, .colour = false});
  normal.start();
  normal.progress(0.5, 30000);
  normal.text.clear();
  normal.evaluate(0.9);
  EXPECT_THAT(normal.text, HasSubstr("test 90.00 %"));
  EXPECT_EQ(normal.count('\n'), 0);

  Screen verbose({.live = true, .colour = false}, Detail::verbose);
  verbose.start();
  verbose.progress(0.5, 30000);
  verbose.text.clear();
  verbose.evaluate(0.9);
  EXPECT_THAT(verbose.text, StartsWith("\r\033[Kepoch 1: test accuracy 90.00 %"));
  EXPECT_EQ(verbose.count('\n'), 1);
}

TEST(Display, ManyEvaluationsDoNotFloodTheTerminal) {
  Screen screen({.live = true, .colour = false});
  screen.start();
  screen.progress(1.95, 30000);
  screen.text.clear();
  for (int i = 0; i < 100; ++i) screen.evaluate(0.9);
  EXPECT_EQ(screen.text, "") << "the last redraw is less than a tenth of a second old";
}

TEST(Display, NotesStandOnLinesOfTheirOwnAndTheProgressComesBack) {
  Screen screen({.live = true, .colour = false});
  screen.start();
  screen.progress(0.5, 30000);
  screen.text.clear();
  screen.display.note("stopping");
  EXPECT_THAT(screen.text, StartsWith("\r\033[Kstopping\n\r\033[Kepoch 0.50/1"));
}

TEST(Display, QuietMeansNotesOnly) {
  Screen screen({.live = true, .colour = true}, Detail::quiet);
  screen.start();
  screen.progress(0.5, 30000);
  screen.evaluate(0.9);
  screen.display.show(Ended{});
  EXPECT_EQ(screen.text, "");
  screen.display.note("stopping");
  EXPECT_EQ(screen.text, "stopping\n");
}

TEST(Display, ARunThatFailsLeavesACleanLine) {
  Screen screen({.live = true, .colour = false});
  screen.start();
  screen.progress(0.5, 30000);
  screen.display.finish();
  EXPECT_THAT(screen.text, EndsWith("\n"));
  const std::string before = screen.text;
  screen.display.finish();
  EXPECT_EQ(screen.text, before);
}

TEST(Display, SaysWhatWasRestoredAndWhatWasNot) {
  Screen screen({});
  Started started;
  started.resumed_from = 1400;
  started.not_restored = "counts begin anew";
  screen.display.show(started);
  EXPECT_THAT(screen.text, HasSubstr("\ngoing on from version 1,400; not restored: counts begin anew\n"));
}

TEST(Display, SaysWhoIsLostAndWhatCouldNotBeKept) {
  Screen screen({});
  screen.start();
  screen.display.show(WorkerLost{1, "w3", "the device fell off the bus", 3});
  screen.display.show(WorkerLost{2, "w1", "its actor ended", 1});
  screen.display.show(Checkpointed{3, 700, "No space left on device"});
  screen.display.show(Checkpointed{3, 800, ""});
  EXPECT_THAT(screen.text,
              EndsWith("\nw3 is lost: the device fell off the bus: 3 workers are left\n"
                       "w1 is lost: its actor ended: 1 worker is left\n"
                       "no checkpoint of version 700: No space left on device: training goes on\n"));
}

TEST(Display, WhatAnEarlierProcessTrainedCountsForNoTime) {
  Screen screen({});
  Started started;
  started.budget_samples = 60000;
  started.resumed_from = 700;
  screen.display.show(started);
  screen.text.clear();
  screen.progress(0.1, 40000);
  screen.progress(5.1, 50000);
  EXPECT_THAT(screen.text, HasSubstr("  83 %  30.0k samples/s  loss 0.5000  5.00 s left\n"))
      << "10,000 took 5 s";
}

TEST(Display, SaysWhoHasJoined) {
  Screen screen({});
  screen.start();
  screen.display.show(WorkerJoined{1, "w4", 5});
  EXPECT_THAT(screen.text, EndsWith("\nw4 has joined: 5 workers\n"));
}

TEST(Display, SaysThatARunWaitsForWorkers) {
  Screen screen({});
  screen.start();
  screen.display.show(RunPaused{1, 3, 4});
  screen.display.show(RunPaused{2, 4, 4});
  EXPECT_THAT(screen.text, EndsWith("\npaused: 3/4 workers\ngoes on: 4/4 workers\n"));
}

TEST(Display, NamesEachCheckpointWhenItIsVerbose) {
  Screen screen({}, Detail::verbose);
  screen.start();
  screen.display.show(Checkpointed{3, 800, ""});
  EXPECT_THAT(screen.text, EndsWith("\ncheckpoint of version 800, after 3.00 s\n"));
}

}  // namespace
}  // namespace thalweg::cli
