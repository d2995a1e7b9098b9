// See text.h.
#include "core/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace twinloom {

namespace base {
void append(std::string& text, std::int64_t value) { text += fmt::format_int(value).c_str(); }
void append(std::string& text, std::uint64_t value) { text += fmt::format_int(value).c_str(); }
void append(std::string& text, float value) { fmt::format_to(std::back_inserter(text), "{}", value); }
void append(std::string& text, double value) { fmt::format_to(std::back_inserter(text), "{}", value); }
}  // namespace base

std::string microseconds(double seconds) { return fmt::format("{:.1f} us", seconds * 1e6); }

std::string escaped(std::string_view text) {
  const auto is_plain = [](char c) { return c >= 0x20 && c < 0x7f && c != '\\' && c != '"'; };
  std::string out;
  while (true) {
    const auto special = std::ranges::find_if_not(text, is_plain);
    out.append(text.begin(), special);
    if (special == text.end()) return out;
    if (*special == '\\' || *special == '"') {
      out += '\\';
      out += *special;
    } else {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(*special));
    }
    text = {special + 1, text.end()};
  }
}

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i) + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const int replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

void Writer::append(std::string_view words) {
  if (!words.empty()) text_.append(static_cast<std::size_t>(2 * depth_), ' ');
  text_ += words;
  text_ += '\n';
}

}  // namespace twinloom
