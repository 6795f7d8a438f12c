#include "runtime/config/field.hpp"

#include "runtime/config/call.hpp"
#include "runtime/config/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace thalweg::config {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

Complaint expected(std::string_view what, const Value& found) {
  return fmt::format("expected {}, found {}", what, kind_of(found));
}

// Whether a number is allowed. `number` is how the user wrote it, `subject` "it" or "each".

Complaint out_of_range(const std::string& number, std::string_view subject, const std::string& right) {
  return fmt::format("{} is out of range: {} must be {}", number, subject, right);
}

Complaint check_count(std::uint64_t count, bool negative, const Allowed& allowed, std::string_view subject) {
  const auto* range = std::get_if<Counts>(&allowed);
  if (range == nullptr) return {};
  if (!negative && count >= range->low && count <= range->high) return {};
  return out_of_range((negative ? "-" : "") + std::to_string(count), subject,
                      fmt::format("from {} to {}", range->low, range->high));
}

Complaint check_real(double number, const Allowed& allowed, std::string_view subject) {
  const auto* range = std::get_if<Reals>(&allowed);
  if (range == nullptr) return {};
  const bool low_enough = range->below_high ? number < range->high : number <= range->high;
  const bool high_enough = range->above_low ? number > range->low : number >= range->low;
  if (std::isfinite(number) && low_enough && high_enough) return {};
  std::string right = fmt::format("{} {}", range->above_low ? "above" : "at least", range->low);
  if (std::isinf(range->high)) {
    right = "finite and " + right;
  } else {
    right += fmt::format(" and {} {}", range->below_high ? "below" : "at most", range->high);
  }
  return out_of_range(fmt::format("{}", number), subject, right);
}

Complaint check_text(const std::string& text, const Allowed& allowed) {
  if (!is_plain_text(text)) return "holds what is no printable text: give UTF-8 without control characters";
  if (const auto* names = std::get_if<Names>(&allowed)) {
    for (const auto name : names->known) {
      if (name == text) return {};
    }
    return fmt::format("'{}' is not known: use {}", text, list_of(names->known));
  }
  if (const auto* calls = std::get_if<Calls>(&allowed)) return check_call(text, *calls);
  if (const auto* address = std::get_if<Address>(&allowed); address != nullptr && !text.empty()) {
    if (!is_address(text)) return fmt::format("'{}' is no address: write HOST:PORT or [IPV6]:PORT", text);
    const bool port_zero = text.find_last_not_of('0') == text.rfind(':');
    if (port_zero && !address->any_port) return "nobody listens at port 0: give the port of that node";
  }
  if (const auto* rule = std::get_if<Text>(&allowed)) {
    if (text.empty() && !rule->may_be_empty) return "is empty: give a name, or leave the key out";
    if (rule->one_folder && (text == "." || text == ".." || text.find('/') != std::string::npos)) {
      return fmt::format("'{}' cannot name a folder: give a name without '/'", text);
    }
  }
  return {};
}

Complaint check_duration(std::chrono::milliseconds duration, const Allowed& allowed) {
  if (duration.count() < 0) return "a duration cannot be negative: give 0 or more";
  const auto* range = std::get_if<Durations>(&allowed);
  if (range == nullptr || duration >= range->low) return {};
  return out_of_range(duration_text(duration), "it", "at least " + duration_text(range->low));
}

Complaint check_tree(const TreeSpec& tree) {
  if (tree.children.empty()) {
    if (tree.workers > 0) return {};
    return "0 workers have nothing to send: every number must be at least 1";
  }
  if (tree.workers > 0) return "workers and leaders below one aggregator: it takes one kind or the other";
  for (const auto& child : tree.children) {
    if (auto complaint = check_tree(child)) return complaint;
  }
  return {};
}

// Reading. Each function takes one value apart, or complains.

Complaint read_count(const Value& value, const Allowed& allowed, std::string_view what,
                     std::string_view subject, std::uint64_t& count) {
  const auto* number = std::get_if<std::int64_t>(&value.held);
  if (number == nullptr) return expected(what, value);
  const bool negative = *number < 0;
  const auto bits = static_cast<std::uint64_t>(*number);
  const std::uint64_t size = negative ? 0 - bits : bits;
  if (auto complaint = check_count(size, negative, allowed, subject)) return complaint;
  count = size;
  return {};
}

Complaint read_real(const Value& value, const Allowed& allowed, std::string_view what,
                    std::string_view subject, double& real) {
  double number = 0;
  if (const auto* whole = std::get_if<std::int64_t>(&value.held)) {
    number = static_cast<double>(*whole);
  } else if (const auto* fraction = std::get_if<double>(&value.held)) {
    number = *fraction;
  } else {
    return expected(what, value);
  }
  if (auto complaint = check_real(number, allowed, subject)) return complaint;
  real = number;
  return {};
}

/// Reads an array, or one number where that is allowed, by `read` element for element.
template <class Number, class Read>
Complaint read_list(const Value& value, const FieldRule& rule, std::string_view one, std::string_view many,
                    Read read, std::vector<Number>& list) {
  const std::string what =
      rule.or_one ? fmt::format("{} or an array of {}", one, many) : fmt::format("an array of {}", many);
  const auto* array = std::get_if<std::vector<Value>>(&value.held);
  if (array == nullptr && !rule.or_one) return expected(what, value);
  std::vector<Number> numbers;
  if (array == nullptr) {
    if (auto complaint = read(value, rule.allowed, what, "it", numbers.emplace_back())) return complaint;
  } else {
    const std::string element = fmt::format("{} in the array", one);
    for (const auto& part : *array) {
      if (auto complaint = read(part, rule.allowed, element, "each", numbers.emplace_back()))
        return complaint;
    }
  }
  list = std::move(numbers);
  return {};
}

Complaint read_text(const Value& value, const Allowed& allowed, std::string_view what,
                    std::string_view /*subject*/, std::string& text) {
  const auto* found = std::get_if<std::string>(&value.held);
  if (found == nullptr) return expected(what, value);
  if (auto complaint = check_text(*found, allowed)) return complaint;
  text = *found;
  return {};
}

Complaint read_factors(const Value& value, const FieldRule& rule, Factors& factors) {
  const auto* table = std::get_if<std::vector<Entry>>(&value.held);
  if (table == nullptr) return expected("a table of numbers, as { w3 = 4.0 }", value);
  Factors all;
  for (const auto& entry : *table) {
    if (auto complaint = set_entry(all, entry, rule)) return complaint;
  }
  factors = std::move(all);
  return {};
}

/// As it stands before a `=`: without quotes where it needs none.
std::string key_text(std::string_view name) {
  constexpr std::string_view bare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  const bool quoted = name.empty() || name.find_first_not_of(bare) != std::string_view::npos;
  return quoted ? string_text(name) : std::string(name);
}

Complaint read_tree(const Value& value, TreeSpec& tree) {
  if (const auto* array = std::get_if<std::vector<Value>>(&value.held)) {
    if (array->empty()) return "an empty array leads nobody: give numbers of workers, as in [2, 2]";
    for (const auto& part : *array) {
      if (auto complaint = read_tree(part, tree.children.emplace_back())) return complaint;
    }
    return {};
  }
  return read_count(value, Counts{1, workers_max}, "a number of workers or nested arrays of such numbers",
                    "every number of workers", tree.workers);
}

}  // namespace

Complaint set_field(Field field, const Value& value, const FieldRule& rule) {
  return std::visit(
      Overloaded{
          [&](bool* member) -> Complaint {
            const auto* flag = std::get_if<bool>(&value.held);
            if (flag == nullptr) return expected("true or false", value);
            *member = *flag;
            return {};
          },
          [&](std::uint64_t* member) { return read_count(value, rule.allowed, "an integer", "it", *member); },
          [&](double* member) { return read_real(value, rule.allowed, "a number", "it", *member); },
          [&](std::string* member) -> Complaint {
            std::string text;
            if (auto complaint = read_text(value, rule.allowed, "a string", "it", text)) return complaint;
            const bool is_call = std::holds_alternative<Calls>(rule.allowed) && !text.empty();
            *member = is_call ? call_text(*parse_call(text)) : text;
            return {};
          },
          [&](std::vector<std::uint64_t>* member) {
            return read_list(value, rule, "an integer", "integers", read_count, *member);
          },
          [&](std::vector<double>* member) {
            return read_list(value, rule, "a number", "numbers", read_real, *member);
          },
          [&](std::vector<std::string>* member) {
            return read_list(value, rule, "a string", "strings", read_text, *member);
          },
          [&](TreeSpec* member) -> Complaint {
            TreeSpec tree;
            if (auto complaint = read_tree(value, tree)) return complaint;
            *member = std::move(tree);
            return {};
          },
          [&](std::chrono::milliseconds* member) -> Complaint {
            const auto* text = std::get_if<std::string>(&value.held);
            if (text == nullptr) return expected("a duration in quotes, as \"90s\" or \"1.5h\"", value);
            const auto duration = read_duration(*text);
            if (!duration) {
              return fmt::format(
                  "'{}' is no duration: give a number and ms, s, m or h, as \"90s\" or \"1.5h\"",
                  printable(*text));
            }
            if (auto complaint = check_duration(*duration, rule.allowed)) return complaint;
            *member = *duration;
            return {};
          },
          [&](Factors* member) { return read_factors(value, rule, *member); }},
      field);
}

Complaint set_entry(Factors& factors, const Entry& entry, const FieldRule& rule) {
  double number = 0;
  if (auto complaint = read_real(entry.value, rule.allowed, "a number in the table", "each", number)) {
    return complaint;
  }
  const auto found = std::find_if(factors.begin(), factors.end(),
                                  [&](const auto& factor) { return factor.first == entry.name; });
  if (found == factors.end()) {
    factors.emplace_back(entry.name, number);
  } else {
    found->second = number;
  }
  return {};
}

Complaint check_field(Field field, const FieldRule& rule) {
  return std::visit(
      Overloaded{
          [&](const bool*) -> Complaint { return {}; },
          [&](const std::uint64_t* count) { return check_count(*count, false, rule.allowed, "it"); },
          [&](const double* number) { return check_real(*number, rule.allowed, "it"); },
          [&](const std::string* text) { return check_text(*text, rule.allowed); },
          [&](const std::vector<std::uint64_t>* counts) -> Complaint {
            for (const auto count : *counts) {
              if (auto complaint = check_count(count, false, rule.allowed, "each")) return complaint;
            }
            return {};
          },
          [&](const std::vector<double>* numbers) -> Complaint {
            for (const auto number : *numbers) {
              if (auto complaint = check_real(number, rule.allowed, "each")) return complaint;
            }
            return {};
          },
          [&](const std::vector<std::string>* texts) -> Complaint {
            for (const auto& text : *texts) {
              if (auto complaint = check_text(text, rule.allowed)) return complaint;
            }
            return {};
          },
          [&](const TreeSpec* tree) { return check_tree(*tree); },
          [&](const std::chrono::milliseconds* duration) { return check_duration(*duration, rule.allowed); },
          [&](const Factors* factors) -> Complaint {
            for (const auto& [name, number] : *factors) {
              if (auto complaint = check_real(number, rule.allowed, "each")) return complaint;
            }
            return {};
          }},
      field);
}

std::string field_text(Field field, const FieldRule& rule) {
  const auto list = [&](const auto& numbers, const auto& text) {
    if (rule.or_one && numbers.size() == 1) return text(numbers[0]);
    std::string all;
    for (const auto& number : numbers) all += (all.empty() ? "" : ", ") + text(number);
    return "[" + all + "]";
  };
  const auto count_text = [](std::uint64_t count) { return std::to_string(count); };
  return std::visit(
      Overloaded{
          [](const bool* flag) { return std::string(*flag ? "true" : "false"); },
          [&](const std::uint64_t* count) { return count_text(*count); },
          [](const double* number) { return real_text(*number); },
          [](const std::string* text) { return string_text(*text); },
          [&](const std::vector<std::uint64_t>* counts) { return list(*counts, count_text); },
          [&](const std::vector<double>* numbers) { return list(*numbers, real_text); },
          [&](const std::vector<std::string>* texts) { return list(*texts, string_text); },
          [](const TreeSpec* tree) { return tree->text(); },
          [](const std::chrono::milliseconds* duration) { return string_text(duration_text(*duration)); },
          [](const Factors* factors) {
            std::string all;
            for (const auto& [name, number] : *factors) {
              all += fmt::format("{} {} = {}", all.empty() ? "" : ",", key_text(name), real_text(number));
            }
            return all.empty() ? std::string("{}") : "{" + all + " }";
          }},
      field);
}

std::string kind_of(const Value& value) {
  return std::visit(Overloaded{[](bool) { return std::string("a boolean"); },
                               [](std::int64_t) { return std::string("an integer"); },
                               [](double) { return std::string("a float"); },
                               [](const std::string&) { return std::string("a string"); },
                               [](const std::vector<Value>&) { return std::string("an array"); },
                               [](const std::vector<Entry>&) { return std::string("a table"); },
                               [](const Foreign& foreign) { return foreign.kind; }},
                    value.held);
}

std::string list_of(std::span<const std::string_view> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

}  // namespace thalweg::config
