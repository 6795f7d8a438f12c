#include "actors/run_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace thalweg::actors {
namespace {

TEST(SummaryJson, NamesAndOrderAreTheDocumentedOnes) {
  Summary summary;
  summary.run = "0123456789abcdef0123456789abcdef";
  summary.method = "ssgd";
  summary.model = "lenet5";
  summary.data = "fashion_mnist";
  summary.seed = 7;
  summary.workers = 4;
  summary.groups = 2;
  summary.tree = "[2, 2]";
  summary.epochs = 1.5;
  summary.samples = 90000;
  summary.commits = 1407;
  summary.wall_s = 2.5;
  summary.compute_s = 8;
  summary.busy_share = 0.8;
  summary.samples_per_s = 36000;
  summary.loss = 0.25;
  summary.accuracy = 0.875;
  summary.staleness_mean = 1;
  summary.staleness_p99 = 3;
  summary.staleness_max = 4;
  summary.bytes_up = {100, 200};
  summary.bytes_down = {300, 400};
  summary.messages = 5000;
  summary.committed = 90000;
  summary.repeated = 32;
  summary.quarantined = 16;
  summary.refused = 2;
  summary.setup_s = 0.5;
  summary.data_s = 0.25;
  summary.train_loss = 0.125;
  summary.ended_by = "max_time";
  summary.resumed_from = 400;
  summary.folder = "runs/lenet5-1";
  EXPECT_EQ(summary_json(summary),
            R"({"run":"0123456789abcdef0123456789abcdef","method":"ssgd","model":"lenet5",)"
            R"("data":"fashion_mnist","seed":7,"workers":4,"groups":2,"epochs":1.5,"samples":90000,)"
            R"("commits":1407,"wall_s":2.5,"compute_s":8.0,"busy_share":0.8,"speed_share":null,)"
            R"("samples_per_s":36000.0,"loss":0.25,"accuracy":0.875,)"
            R"("staleness":{"mean":1.0,"p99":3.0,"max":4.0},"bytes":{"up":[100,200],"down":[300,400]},)"
            R"("messages":5000,"ledger":{"committed":90000,"repeated":32,"quarantined":16},"refused":2,)"
            R"("emulated":false,"end":"done","schema":1,"failure":"","ended_by":"max_time",)"
            R"("resumed_from":400,"tree":"[2, 2]","setup_s":0.5,)"
            R"("data_s":0.25,"train_loss":0.125,"staleness_counts":[90,20],"worker_summaries":[{"name":"w0",)"
            R"("samples":64,"steps":4,"compute_s":1.5}],"folder":"runs/lenet5-1"})");
}

TEST(SummaryJson, AWholeNumberOfSixtyFourBitsSurvives) {
  Summary summary;
  summary.seed = std::numeric_limits<std::uint64_t>::max();
  EXPECT_THAT(summary_json(summary), testing::HasSubstr("\"seed\":18446744073709551615"));
}

TEST(SummaryJson, WhatIsNotFiniteIsNull) {
  Summary summary;
  summary.loss = std::numeric_limits<double>::quiet_NaN();
  summary.accuracy = std::numeric_limits<double>::infinity();
  EXPECT_THAT(summary_json(summary), testing::HasSubstr("\"loss\":null,\"accuracy\":null"));
}

TEST(SummaryJson, TextIsEscapedAndStaysOnOneLine) {
  Summary summary;
  summary.failure = "device \"host\"\nstopped";
  summary.folder = "runs/\xff";
  const std::string json = summary_json(summary);
  EXPECT_THAT(json, testing::HasSubstr(R"("failure":"device \"host\"\nstopped")"));
  EXPECT_THAT(json, testing::HasSubstr("\"folder\":\"runs/\xEF\xBF\xBD\""));
  EXPECT_EQ(json.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace thalweg::actors
