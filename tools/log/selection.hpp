#pragma once

#include "tools/log/questions.hpp"

/// Shared by the questions: statements with parameters.
namespace thalweg::log {

/// SELECT `columns` FROM log with what `filter` says, in order of the logical clock.
Result<journal::Statement> select(const journal::RunLog& log, std::string_view columns, const Filter& filter);

/// A statement with integers bound in order.
Result<journal::Statement> ask(const journal::RunLog& log, std::string_view sql,
                               std::initializer_list<std::int64_t> numbers = {});

}  // namespace thalweg::log
