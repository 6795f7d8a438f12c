#include "actors/rules/decision.hpp"

namespace thalweg::rules {

std::string Reason::text() const {
  std::string text;
  std::size_t next = 0;
  for (const char* at = sentence; *at != '\0'; ++at) {
    if (at[0] == '{' && at[1] == '}' && next < numbers.size()) {
      text += std::to_string(numbers[next++]);
      ++at;
    } else {
      text += *at;
    }
  }
  return text;
}

}  // namespace thalweg::rules
