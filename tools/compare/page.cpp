#include "tools/compare/page.hpp"

#include "tools/compare/chart.hpp"
#include "tools/compare/figures_html.hpp"
#include "tools/compare/page_style.hpp"
#include "tools/compare/table.hpp"
#include "tools/text/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

namespace thalweg::compare {
namespace {

std::string title_of(const Comparison& comparison) {
  std::size_t methods = 0;
  for (const Contestant& contestant : comparison.contestants) methods += contestant.equal ? 0 : 1;
  return fmt::format("{} {} compared: {} on {}", methods, methods == 1 ? "method" : "methods",
                     comparison.job.model.name, comparison.job.data.name);
}

/// One figure, and who is best at it.
struct Question {
  std::string what;
  Spread Figures::*figure;
  bool most;  ///< more is better
  std::function<std::string(double)> written;
};

/// The contestants that have the figure in all their finished runs, the best one first.
std::vector<std::size_t> ranked(const std::vector<Figures>& figures, const Question& question) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const Spread& figure = figures[i].*question.figure;
    if (figure.known() && figure.count == figures[i].done) order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](std::size_t one, std::size_t other) {
    const double a = (figures[one].*question.figure).mean;
    const double b = (figures[other].*question.figure).mean;
    return question.most ? a > b : a < b;
  });
  return order;
}

std::string tile_html(const Comparison& comparison, const std::vector<Figures>& figures,
                      const Question& question) {
  const auto order = ranked(figures, question);
  if (order.size() < 2) return "";
  const auto text_of = [&](std::size_t index) {
    return question.written((figures[index].*question.figure).mean);
  };
  return fmt::format(
      "<div class=\"tile\"><p class=\"what\">{}</p><p class=\"who\">{}</p><p class=\"much\">{}</p>"
      "<p class=\"next\">next: {}, {}</p></div>\n",
      escaped(question.what), escaped(comparison.contestants[order[0]].label), escaped(text_of(order[0])),
      escaped(comparison.contestants[order[1]].label), escaped(text_of(order[1])));
}

std::string tiles_html(const Comparison& comparison, const std::vector<Figures>& figures, double target) {
  const auto bytes = [](double mean) {
    return text::human_bytes(static_cast<std::uint64_t>(std::llround(mean)));
  };
  const auto speed = [](double mean) {
    return text::human_count(static_cast<std::uint64_t>(std::llround(mean))) + " samples/s";
  };
  const std::vector<Question> questions = {
      {"Highest accuracy", &Figures::accuracy, true, text::human_percent},
      {"First at " + target_words(target), &Figures::to_target_s, false, text::human_seconds},
      {"Most samples a second", &Figures::samples_per_s, true, speed},
      {"Fewest bytes a sample", &Figures::bytes_per_sample, false, bytes}};
  std::string html = "<div class=\"tiles\">\n";
  for (const Question& question : questions) html += tile_html(comparison, figures, question);
  return html + "</div>\n";
}

std::string table_html(const std::vector<Column>& columns) {
  std::string html = "<div class=\"table\" tabindex=\"0\"><table>\n<thead><tr>";
  for (const Column& column : columns) {
    html += fmt::format("<th scope=\"col\">{}{}</th>", escaped(column.name),
                        column.unit.empty() ? "" : fmt::format("<small>{}</small>", escaped(column.unit)));
  }
  html += "</tr></thead>\n<tbody>\n";
  for (std::size_t row = 0; row < columns[0].cells.size(); ++row) {
    html += fmt::format("<tr><th scope=\"row\">{}</th>", escaped(columns[0].cells[row]));
    for (std::size_t i = 1; i < columns.size(); ++i) {
      html += fmt::format("<td>{}</td>", escaped(columns[i].cells[row]));
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

/// Two tables, as none of them has room for all columns.
std::string tables_html(std::vector<Column> columns) {
  const auto after = std::ranges::find(columns, std::string("runs"), &Column::name);
  std::vector<Column> rest = {columns[0]};
  if (after != columns.end()) {
    rest.insert(rest.end(), std::next(after), columns.end());
    columns.erase(std::next(after), columns.end());
  }
  return table_html(columns) + (rest.size() > 1 ? table_html(rest) : "");
}

std::string notes_html(const std::vector<std::string>& notes) {
  std::string html = "<ul class=\"notes\">\n";
  for (const std::string& note : notes) {
    const bool warning = note.starts_with("Warning");
    html += fmt::format("<li{}>{}</li>\n", warning ? " class=\"warning\"" : "", escaped(note));
  }
  return html + "</ul>\n";
}

}  // namespace

std::string page_html(const Comparison& comparison, const std::vector<Figures>& figures, double target) {
  const std::string title = title_of(comparison);
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>{}</title>\n<style>{}</style>\n"
      "</head>\n<body>\n<main>\n<h1>{}{}</h1>\n<p class=\"job\">{}</p>\n",
      escaped(title), page_style(), escaped(title),
      is_emulated(comparison) ? "<span class=\"emulated\">emulated</span>" : "",
      escaped(job_words(comparison)));
  html += tiles_html(comparison, figures, target);
  html += "<h2>In figures</h2>\n" + tables_html(table_columns(comparison, figures, target));
  html += notes_html(table_notes(comparison, figures, target));
  html += curves_html(comparison);
  html += bars_html(comparison, figures, target);
  html += workers_html(comparison, figures);
  html += staleness_html(comparison, figures);
  html += fmt::format(
      "<footer>thalweg {}, thalweg compare. The figures of every run are in compare.csv, its curves in "
      "compare.json beside this page.</footer>\n</main>\n<div "
      "id=\"tip\"></div>\n<script>{}</script>\n</body>\n</html>\n",
      escaped(comparison.version), page_script());
  return html;
}

}  // namespace thalweg::compare
