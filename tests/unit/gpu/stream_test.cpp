#include "gpu/stream.hpp"

#include "gpu/device.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace thalweg::gpu {
namespace {

const auto reference = HostOptions::Ops::reference;

/// Every promise of a stream holds for a thread and inline alike.
struct HostStreams : ::testing::TestWithParam<bool> {
  std::unique_ptr<Device> device = open_host_device({reference, GetParam()});
  std::unique_ptr<Stream> stream = device->open_stream("stream-of-worker-7");
};

Status succeed(Stream&) { return {}; }

TEST_P(HostStreams, RunsWorkInOrderAndTellsAfterwards) {
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) {
    stream->submit(
        [&order, i](Stream&) -> Status {
          order.push_back(2 * i);
          return {};
        },
        [&order, i](Status status) {
          EXPECT_TRUE(status.ok());
          order.push_back(2 * i + 1);
        });
  }
  EXPECT_TRUE(stream->record().wait().ok());
  ASSERT_EQ(order.size(), 200U);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST_P(HostStreams, HandsWorkTheStreamAndRunsDoneOnItsThread) {
  std::thread::id work_thread, done_thread;
  Stream* given = nullptr;
  stream->submit(
      [&](Stream& running) -> Status {
        given = &running;
        work_thread = std::this_thread::get_id();
        return {};
      },
      [&](Status) { done_thread = std::this_thread::get_id(); });
  EXPECT_TRUE(stream->record().wait().ok());
  EXPECT_EQ(given, stream.get());
  EXPECT_EQ(stream->name(), "stream-of-worker-7");
  EXPECT_EQ(work_thread, done_thread);
  EXPECT_EQ(work_thread == std::this_thread::get_id(), GetParam());
}

TEST_P(HostStreams, TurnsExceptionsIntoErrorsWithTheirText) {
  Status told;
  stream->submit([](Stream&) -> Status { throw std::runtime_error("out of luck"); },
                 [&](Status status) { told = std::move(status); });
  const auto waited = stream->record().wait();
  ASSERT_FALSE(waited.ok());
  ASSERT_FALSE(told.ok());
  EXPECT_EQ(told.error().text, "out of luck");
  EXPECT_EQ(told.error().code, ErrorCode::failed);
}

TEST_P(HostStreams, GoesOnAfterAFailureAndEventsKeepTheFirst) {
  auto before = stream->record();
  stream->submit([](Stream&) -> Status { return Error{ErrorCode::diverged, "first"}; }, nullptr);
  stream->submit([](Stream&) -> Status { throw 7; }, nullptr);
  bool ran = false;
  Status last{Error{}};
  stream->submit(
      [&](Stream&) -> Status {
        ran = true;
        return {};
      },
      [&](Status status) { last = std::move(status); });
  auto after = stream->record();
  EXPECT_TRUE(before.wait().ok());
  const auto status = after.wait();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().text, "first");
  EXPECT_EQ(status.error().code, ErrorCode::diverged);
  EXPECT_TRUE(ran);
  EXPECT_TRUE(last.ok());
}

TEST_P(HostStreams, EventsAreCopiesOfOnePoint) {
  EXPECT_TRUE(Event().ready());
  EXPECT_TRUE(Event().wait().ok());
  stream->submit(succeed, nullptr);
  auto event = stream->record();
  auto copy = event;
  EXPECT_TRUE(copy.wait().ok());
  EXPECT_TRUE(event.ready());
}

TEST_P(HostStreams, RunsWhatItsWorkSubmitsAfterIt) {
  std::vector<std::string> order;
  const auto note = [&order](const char* what) {
    return [&order, what](Stream&) -> Status {
      order.emplace_back(what);
      return {};
    };
  };
  Event inner;
  stream->submit(
      [&](Stream& running) -> Status {
        running.submit(note("inner"), nullptr);
        inner = running.record();
        order.emplace_back("outer");
        return {};
      },
      [&](Status) { order.emplace_back("outer done"); });
  EXPECT_TRUE(stream->record().wait().ok());
  EXPECT_TRUE(inner.wait().ok());
  EXPECT_EQ(order, (std::vector<std::string>{"outer", "outer done", "inner"}));
}

TEST_P(HostStreams, FinishesWhatWasSubmittedBeforeItEnds) {
  std::atomic<int> finished = 0;
  for (int i = 0; i < 50; ++i) stream->submit(succeed, [&](Status) { ++finished; });
  auto event = stream->record();
  stream.reset();
  EXPECT_EQ(finished, 50);
  EXPECT_TRUE(event.ready());
}

TEST_P(HostStreams, LetsGoOfWorkBeforeTellingThatItIsDone) {
  auto held = std::make_shared<int>(1);  // not const: the lambda below is moved, not copied, into the work
  long holders = 0;
  stream->submit([held](Stream&) -> Status { return {}; }, [&](Status) { holders = held.use_count(); });
  EXPECT_TRUE(stream->record().wait().ok());
  EXPECT_EQ(holders, 1);
}

INSTANTIATE_TEST_SUITE_P(ThreadAndInline, HostStreams, ::testing::Bool(),
                         [](const auto& tested) { return tested.param ? "Inline" : "Thread"; });

TEST(HostStream, NamesItsThread) {
  const auto device = open_host_device({reference, false});
  const auto stream = device->open_stream("stream-of-worker-7");
  char name[16] = {};
  stream->submit(
      [&](Stream&) -> Status {
        pthread_getname_np(pthread_self(), name, sizeof name);
        return {};
      },
      nullptr);
  EXPECT_TRUE(stream->record().wait().ok());
  EXPECT_STREQ(name, "stream-of-worke");
}

TEST(HostStream, ReturnsAtOnceAndIsReadyOnlyAfterTheWork) {
  const auto device = open_host_device({reference, false});
  const auto stream = device->open_stream("slow");
  std::atomic<bool> go = false;
  stream->submit(
      [&](Stream&) -> Status {
        go.wait(false);
        return {};
      },
      nullptr);
  auto event = stream->record();
  EXPECT_FALSE(event.ready());
  go = true;
  go.notify_one();
  EXPECT_TRUE(event.wait().ok());
  EXPECT_TRUE(event.ready());
}

}  // namespace
}  // namespace thalweg::gpu
