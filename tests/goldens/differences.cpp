// See differences.h.
#include "tests/goldens/differences.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/base/text.h"

namespace twinloom::tests {

namespace {

using Lines = std::vector<std::string_view>;

// A golden from one head to the next: first the machine's facts, then the kernels.
struct Section {
  std::string name;
  Lines lines;
};

Lines lines_of(std::string_view text) {
  Lines lines;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

std::string_view without_margin(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

std::vector<Section> sections_of(std::string_view text) {
  constexpr std::string_view MACHINE = "machine \"", SUBJECT = "subject ", KERNEL = "  kernel ";
  std::vector<Section> sections;
  std::string machine, subject;
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with(MACHINE)) {
      machine = line.substr(MACHINE.size(), line.find('"', MACHINE.size()) - MACHINE.size());
      sections.push_back({cat(machine, ": the machine"), {}});
    } else if (line.starts_with(SUBJECT)) {
      subject = cat(machine, ": ", line.substr(SUBJECT.size()));
    } else if (line.starts_with(KERNEL)) {
      sections.push_back({cat(subject, ", kernel ", line.substr(KERNEL.size())), {}});
    } else {
      if (sections.empty()) sections.push_back({"before the machine", {}});
      sections.back().lines.push_back(without_margin(line));
    }
  }
  return sections;
}

std::string first_lines(const Lines& lines, std::string_view sign) {
  constexpr std::size_t MOST = 6;
  std::string text;
  for (std::size_t at = 0; at < std::min(lines.size(), MOST); ++at) text += cat("  ", sign, lines[at], "\n");
  if (lines.size() > MOST) text += cat("  ", sign, "and ", lines.size() - MOST, " more lines\n");
  return text;
}

// Without the lines that both begin and end with.
std::string difference_of(Lines kept, Lines made) {
  const auto begin = std::ranges::mismatch(kept, made);
  kept.erase(kept.begin(), begin.in1);
  made.erase(made.begin(), begin.in2);
  while (!kept.empty() && !made.empty() && kept.back() == made.back()) {
    kept.pop_back();
    made.pop_back();
  }
  return first_lines(kept, "- ") + first_lines(made, "+ ");
}

std::vector<std::string> paragraphs(const std::vector<Section>& kept, const std::vector<Section>& made) {
  std::map<std::string_view, const Section*> others;
  for (const Section& section : made) others.emplace(section.name, &section);
  std::vector<std::string> all;
  for (const Section& section : kept) {
    const auto other = others.extract(section.name);
    if (other.empty())
      all.push_back(cat(section.name, "\n  - only the golden has it\n"));
    else if (other.mapped()->lines != section.lines)
      all.push_back(cat(section.name, "\n", difference_of(section.lines, other.mapped()->lines)));
  }
  for (const Section& section : made)
    if (others.contains(section.name)) all.push_back(cat(section.name, "\n  + the golden lacks it\n"));
  return all;
}

}  // namespace

std::string differences(std::string_view kept, std::string_view made) {
  if (kept == made) return {};
  constexpr std::size_t MOST = 20;
  std::vector<std::string> all = paragraphs(sections_of(kept), sections_of(made));
  if (all.empty())
    all.emplace_back("the same kernels, in another order, with other blanks or beside other subjects\n");
  const std::size_t shown = std::min(all.size(), MOST);
  std::string text;
  for (std::size_t at = 0; at < shown; ++at) text += all[at];
  if (shown < all.size()) text += cat("and ", all.size() - shown, " more\n");
  return text;
}

}  // namespace twinloom::tests
