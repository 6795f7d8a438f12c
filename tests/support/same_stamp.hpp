#pragma once

#include "runtime/values/stamp.hpp"

#include <gtest/gtest.h>

namespace thalweg {

/// Part by part, so that a failure names the part.
inline void expect_same(const Stamp& got, const Stamp& expected) {
  EXPECT_EQ(got.id, expected.id);
  EXPECT_EQ(got.cause, expected.cause);
  EXPECT_EQ(got.hlc, expected.hlc);
  EXPECT_EQ(got.term, expected.term);
  EXPECT_EQ(got.incarnation, expected.incarnation);
  EXPECT_EQ(got.kind, expected.kind);
}

}  // namespace thalweg
