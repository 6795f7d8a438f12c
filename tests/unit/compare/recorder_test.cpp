#include "tools/compare/experiment.hpp"

#include <gtest/gtest.h>

namespace thalweg::compare {
namespace {

Progressed progressed(std::uint64_t version, double wall_s, double loss) {
  Progressed event;
  event.version = version;
  event.samples = version * 10;
  event.wall_s = wall_s;
  event.loss = loss;
  return event;
}

Evaluated evaluated(std::uint64_t version, double wall_s, double accuracy) {
  Evaluated event;
  event.version = version;
  event.samples = version * 10;
  event.wall_s = wall_s;
  event.accuracy = accuracy;
  return event;
}

TEST(Recorder, MakesCurvesOfEvents) {
  Recorder recorder;
  Started started;
  started.workers = 2;
  recorder.take(started);
  recorder.take(progressed(5, 1, 2.5));
  recorder.take(progressed(9, 2, 1.5));
  Summary summary;
  summary.end = "stopped";
  recorder.take(Ended{summary});
  const compare::Run run = recorder.recorded();
  EXPECT_EQ(run.started.workers, 2U);
  ASSERT_EQ(run.loss.size(), 2U);
  EXPECT_EQ(run.loss[1].samples, 90);
  EXPECT_EQ(run.loss[1].value, 1.5);
  EXPECT_FALSE(run.done());
}

TEST(Recorder, PutsAnEvaluationWhereItsParametersWereCommitted) {
  Recorder recorder;
  recorder.take(progressed(5, 1, 2.5));
  recorder.take(progressed(9, 2, 1.5));
  recorder.take(evaluated(5, 2.5, 0.7));
  recorder.take(evaluated(10, 3, 0.8));
  const compare::Run run = recorder.recorded();
  ASSERT_EQ(run.accuracy.size(), 2U);
  EXPECT_EQ(run.accuracy[0].wall_s, 1);
  EXPECT_EQ(run.accuracy[1].wall_s, 3);
}

}  // namespace
}  // namespace thalweg::compare
