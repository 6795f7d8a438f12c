#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

/// A value as it stands in a job file or behind a flag, free of the parser that read it: made by load.cpp,
/// taken apart by field.cpp.
namespace thalweg::config {

/// Something that no key takes. `kind` names it with its article, as "a date".
struct Foreign {
  std::string kind;
};

struct Entry;

struct Value {
  std::variant<bool, std::int64_t, double, std::string, std::vector<Value>, std::vector<Entry>, Foreign> held;
};

/// A key and its value in a table, as `w3 = 4.0`.
struct Entry {
  std::string name;
  Value value;
};

}  // namespace thalweg::config
