#pragma once

#include <string_view>

namespace thalweg::compare {

/// The page's style: light and dark by the reader's choice, colours that people with any colour vision tell
/// apart (after Okabe and Ito, 2008), two columns of charts where there is room.
std::string_view page_style();

/// The page's script: shows the values under the pointer. Without it all but those is there.
std::string_view page_script();

}  // namespace thalweg::compare
