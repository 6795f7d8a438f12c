#pragma once

#include "runtime/journal/record.hpp"
#include "runtime/values/stamp.hpp"

#include <string_view>

/// What of a body goes into the message log: its numbers, and its words when it says why something went
/// wrong.
namespace thalweg::actors {

struct LogFields {
  journal::RecordNumbers numbers;
  std::string_view text;  ///< of the body; empty: none
};

/// `body`: of the type that `kind` names.
LogFields log_fields(MessageKind kind, const void* body);

}  // namespace thalweg::actors
