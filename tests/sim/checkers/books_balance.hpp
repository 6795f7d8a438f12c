#pragma once

#include "tests/sim/checker.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace thalweg::sim {

/// The numbers of the summary are what went over the wire: bytes per level, messages handled, commits.
class BooksBalance final : public Checker {
 public:
  BooksBalance() : Checker("books_balance") {}

  void sent(const Message& message) override;
  void handled(std::string_view who, const Stamp& stamp) override;
  void ends(const Ending& ending) override;

 private:
  std::map<std::string, std::size_t, std::less<>> levels_;  ///< of the aggregators
  std::vector<std::uint64_t> up_, down_;                    ///< bytes by level
  std::uint64_t handled_ = 0;
  std::uint64_t commits_ = 0;
};

}  // namespace thalweg::sim
