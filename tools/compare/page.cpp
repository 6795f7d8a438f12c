#include "tools/compare/page.hpp"
namespace thalweg::compare {
std::string page_html(const Comparison&, const std::vector<Figures>&, double) { return ""; }
}  // namespace thalweg::compare
