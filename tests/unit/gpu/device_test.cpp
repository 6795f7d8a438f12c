#include "gpu/device.hpp"

#include "tests/unit/gpu/op_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace thalweg::gpu {
namespace {

using namespace ::testing;

const auto best = HostOptions::Ops::best;

bool has_onednn(const Device& device) { return device.info().library.starts_with("oneDNN"); }

/// Makes an op, says what runs it, and hands on what it puts out.
struct Chain {
  Device& device;
  TensorDesc at;
  std::vector<std::string> implementations;

  template <class Made>
  void add(Made made) {
    ASSERT_TRUE(made.ok()) << made.error().text;
    implementations.push_back((*made)->implementation());
    at = (*made)->output();
  }
};

TEST(Host, SaysWhatItIs) {
  const auto info = open_host_device()->info();
  EXPECT_EQ(info.name, "host");
  EXPECT_THAT(info.hardware, Not(IsEmpty()));
  EXPECT_THAT(info.library, AnyOf(StartsWith("oneDNN "), Eq("reference loops")));
  EXPECT_GE(info.cores, 1U);
  EXPECT_GT(info.memory_bytes, 0U);
  EXPECT_EQ(open_host_device({HostOptions::Ops::reference, true})->info().library, "reference loops");
}

TEST(Host, IsListedAndWhatIsAbsentSaysWhy) {
  const auto report = list_devices();
  ASSERT_THAT(report.devices, Not(IsEmpty()));
  EXPECT_EQ(report.devices.front().name, "host");
  if (report.devices.size() == 1) {
    EXPECT_THAT(report.absent, Contains(StartsWith("cuda: ")));
  }
}

TEST(Host, NoOpFallsBackToSlowLoops) {
  const auto device = open_host_device({best, true});
  if (!has_onednn(*device)) GTEST_SKIP() << "this build computes with the reference loops";
  for (const std::size_t batch : {64U, 1U, 3U}) {
    Chain lenet{*device, TensorDesc::plain({batch, 1, 28, 28}), {}};
    lenet.add(device->conv2d({6, 5, 1, 2, true}, lenet.at));
    lenet.add(device->pool2d({Pool2dSpec::Kind::max, 2, 2}, lenet.at));
    lenet.add(device->conv2d({16, 5, 1, 0, true}, lenet.at));
    lenet.add(device->pool2d({Pool2dSpec::Kind::max, 2, 2}, lenet.at));
    lenet.add(device->linear({120, true}, lenet.at));
    lenet.add(device->linear({84, true}, lenet.at));
    lenet.add(device->linear({10, false}, lenet.at));
    Chain others{*device, TensorDesc::plain({batch, 3, 32, 32}), {}};
    others.add(device->conv2d({16, 3, 1, 1, true}, others.at));
    others.add(device->conv2d({32, 3, 2, 1, false}, others.at));
    others.add(device->relu(others.at));
    others.add(device->conv2d({7, 1, 2, 0, true}, others.at));
    others.add(device->pool2d({Pool2dSpec::Kind::average, 8, 8}, others.at));
    others.add(device->linear({100, false}, others.at));
    for (const auto* chain : {&lenet, &others}) {
      for (const auto& implementation : chain->implementations) {
        EXPECT_THAT(implementation, Not(HasSubstr("ref"))) << "batch " << batch;
      }
    }
  }
}

TEST(Host, RefusesWhatDoesNotFit) {
  for (const auto ops : {best, HostOptions::Ops::reference}) {
    const auto device = open_host_device({ops, true});
    const auto small = TensorDesc::plain({2, 1, 3, 3}), flat = TensorDesc::plain({2, 9});
    const auto expect_invalid = [](const auto& made, const std::string& part) {
      ASSERT_FALSE(made.ok());
      EXPECT_EQ(made.error().code, ErrorCode::invalid);
      EXPECT_THAT(made.error().text, HasSubstr(part));
    };
    expect_invalid(device->conv2d({4, 5, 1, 0, false}, small),
                   "on an input of 2x1x3x3: the kernel is larger");
    expect_invalid(device->conv2d({4, 3, 1, 3, false}, small), "less padding");
    expect_invalid(device->conv2d({4, 3, 0, 0, false}, small), "stride must be at least 1");
    expect_invalid(device->conv2d({4, 3, 1, 0, false}, flat), "needs [N, C, H, W]");
    expect_invalid(device->pool2d({Pool2dSpec::Kind::max, 4, 4}, small), "window is larger");
    expect_invalid(device->linear({0, false}, flat), "at least 1 output");
    expect_invalid(device->relu(TensorDesc::plain({})), "on an input of nothing");
    expect_invalid(device->softmax_cross_entropy(small), "needs [N, classes]");
  }
}

TEST(Host, RefusesALayoutOfAnotherDevice) {
  struct Foreign : Layout {};
  for (const auto ops : {best, HostOptions::Ops::reference}) {
    const auto device = open_host_device({ops, true});
    auto input = TensorDesc::plain({2, 1, 8, 8});
    input.layout = std::make_shared<Foreign>();
    const auto made = device->conv2d({4, 3, 1, 0, false}, input);
    if (ops == best && !has_onednn(*device)) continue;
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code, ErrorCode::mismatch);
  }
}

struct Loss : TestWithParam<HostOptions::Ops> {
  std::unique_ptr<Device> device = open_host_device({GetParam(), true});
  std::unique_ptr<Stream> stream = device->open_stream("loss");

  Score score(std::vector<float> logits, std::vector<std::int32_t> labels) {
    const auto desc = TensorDesc::plain({labels.size(), logits.size() / labels.size()});
    auto op = device->softmax_cross_entropy(desc);
    return (*op)->run(*stream, {desc, logits.data()}, labels.data(), nullptr);
  }
};

TEST_P(Loss, SurvivesLargeLogits) {
  const auto large = score({1e30F, -1e30F, 0, 1000, 1000, -1000}, {0, 1});
  EXPECT_NEAR(large.loss_sum, std::log(2.0), 1e-6);
  EXPECT_EQ(large.correct, 1U);  // of two equal logits the first counts as the answer
  EXPECT_EQ(large.samples, 2U);
}

TEST_P(Loss, IsNaNWhenALogitIsNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float bad : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_TRUE(std::isnan(score({1, 2, 3, bad}, {1, 0}).loss_sum)) << bad;
  }
}

TEST_P(Loss, KnowsABugWhenItSeesOne) {
  EXPECT_DEATH(score({1, 2}, {2}), "a label is a class of the model");
  EXPECT_DEATH(score({1, 2}, {-1}), "a label is a class of the model");
}

INSTANTIATE_TEST_SUITE_P(EveryDevice, Loss, Values(best, HostOptions::Ops::reference));

TEST(Shapes, KnowTheirCountAndText) {
  EXPECT_EQ(Shape({2, 3, 4, 5}).count(), 120U);
  EXPECT_EQ(Shape({2, 3}).rank(), 2U);
  EXPECT_NE(Shape({2, 3}), Shape({3, 2}));
  EXPECT_EQ(TensorDesc::plain({2, 3}).bytes, 24U);
}

}  // namespace
}  // namespace thalweg::gpu
