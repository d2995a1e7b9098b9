// See lists.h.
#include "tests/steps/lists.h"

#include "core/base/error.h"
#include "core/schedule/schedule.h"

namespace twinloom::tests {

steps::Step step(std::string_view text) {
  Scanner scanner(text, "step");
  const std::string word = scanner.word();
  steps::Step read = steps::parse(word, scanner);
  CHECK(scanner.at_end(), "more than a step: ", text);
  return read;
}

std::vector<steps::Step> steps_of(const std::vector<std::string_view>& lines) {
  std::vector<steps::Step> list;
  for (const std::string_view line : lines) list.push_back(step(line));
  return list;
}

std::string print(const std::vector<steps::Step>& list) {
  return join(list, "\n", [](const steps::Step& each) { return steps::print(each); });
}

std::string why_none(const loops::Program& nest, const std::vector<steps::Step>& list) {
  schedule::Schedule schedule;
  schedule.steps = list;
  return schedule::why_illegal(nest, schedule).value_or("");
}

std::optional<loops::Program> program_of(const loops::Program& nest, const std::vector<steps::Step>& list) {
  if (!why_none(nest, list).empty()) return std::nullopt;
  schedule::Schedule schedule;
  schedule.steps = list;
  std::vector<loops::Program> programs = schedule::apply(nest, schedule);
  loops::verify(programs.front(), loops::Stage::program);
  return programs.front();
}

}  // namespace twinloom::tests
