#include "tools/cli/report.hpp"

#include "tools/cli/objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace thalweg::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

Summary two_epochs() {
  Summary summary;
  summary.workers = 4;
  summary.epochs = 2;
  summary.samples = 120000;
  summary.commits = 1876;
  summary.wall_s = 12.43;
  summary.samples_per_s = 9654.1;
  summary.busy_share = 0.934;
  summary.loss = 0.2431;
  summary.accuracy = 0.9124;
  summary.bytes_up = {450'000'000, 900'000'000};
  summary.bytes_down = {450'000'000, 900'000'000};
  summary.folder = "runs/lenet5-1";
  return summary;
}

TEST(ResultBlock, HoldsWhatOneWantsToKnow) {
  EXPECT_EQ(result_block(two_epochs(), false),
            "test accuracy  91.24 %\n"
            "test loss      0.2431\n"
            "wall time      12.4 s\n"
            "speed          9,654 samples/s\n"
            "busy           93 % of the time of 4 workers\n"
            "commits        1,876, 120,000 samples, 2 epochs\n"
            "bytes up       root 450 MB, level 1 900 MB\n"
            "bytes down     root 450 MB, level 1 900 MB\n"
            "model          runs/lenet5-1/model.safetensors\n");
}

TEST(ResultBlock, SaysHowARunEndedThatIsNotDone) {
  Summary summary = two_epochs();
  summary.end = "stopped";
  EXPECT_THAT(result_block(summary, false),
              HasSubstr("end            stopped\nmodel          runs/lenet5-1/model"));
  summary.end = "diverged";
  EXPECT_THAT(result_block(summary, false),
              HasSubstr("end            diverged\nfolder         runs/lenet5-1\n"));
}

TEST(ResultBlock, DoesNotInventAnAccuracy) {
  Summary summary = two_epochs();
  summary.loss = Summary{}.loss;
  summary.accuracy = Summary{}.accuracy;
  EXPECT_THAT(result_block(summary, false), HasSubstr("test accuracy  not evaluated\nwall time"));
  summary.accuracy = 0.5;
  summary.loss = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(result_block(summary, false), HasSubstr("test accuracy  not evaluated\nwall time"));
}

TEST(ResultBlock, VerboseAddsToIt) {
  EXPECT_THAT(result_block(two_epochs(), false), Not(HasSubstr("staleness")));
  EXPECT_THAT(result_block(two_epochs(), true), HasSubstr("staleness      mean 0.00, p99 0, max 0\n"));
}

TEST(ResultBlock, SaysWhatIsEmulated) {
  Summary summary = two_epochs();
  summary.emulated = true;
  summary.speed_share = 0.873;
  EXPECT_THAT(result_block(summary, false),
              HasSubstr("speed          9,654 samples/s, emulated\n"
                        "speed share    87 % of what the workers make alone\n"));
}

TEST(StartLine, OneOfAThingIsSingularAndWhatIsUnknownIsLeftOut) {
  Started started;
  started.workers = 1;
  started.parameters = 1000;
  started.train_samples = 64;
  EXPECT_EQ(start_line({}, started),
            "training lenet5 (1,000 parameters) on fashion_mnist (64 samples): 1 worker, ssgd");
}

TEST(Objects, EvaluationsAndDevicesAreOneLine) {
  const Evaluation evaluation = {
      "runs/a", "lenet5", "mnist", {.loss_sum = 25, .correct = 90, .samples = 100}};
  EXPECT_EQ(evaluation_json(evaluation),
            R"({"folder":"runs/a","model":"lenet5","data":"mnist","accuracy":0.9,"loss":0.25,)"
            R"("correct":90,"samples":100,"schema":1})");
  const gpu::DeviceReport report = {{{"host", "a processor", "oneDNN 2.6.3", 2, 1000}}, {"cuda: not built"}};
  EXPECT_EQ(devices_json(report),
            R"({"devices":[{"name":"host","hardware":"a processor","library":"oneDNN 2.6.3","cores":2,)"
            R"("memory_bytes":1000}],"absent":["cuda: not built"],"schema":1})");
}

TEST(Objects, AnEmptyTestSetHasNoAccuracy) {
  EXPECT_EQ(Evaluation{}.accuracy(), 0);
  EXPECT_EQ(Evaluation{}.loss(), 0);
}

TEST(ResultBlock, SaysWhatWasLeftOutAndWhyItEnded) {
  auto summary = two_epochs();
  summary.refused = 3;
  summary.quarantined = 16;
  summary.ended_by = "target_accuracy";
  EXPECT_THAT(result_block(summary, false), HasSubstr("\nrefused        3 contributions\n"
                                                      "quarantined    16 samples, refused twice\n"
                                                      "end            by stop.target_accuracy\n"));
  summary.ended_by = "data";
  EXPECT_THAT(result_block(summary, false), Not(HasSubstr("\nend ")));
}

}  // namespace
}  // namespace thalweg::cli
