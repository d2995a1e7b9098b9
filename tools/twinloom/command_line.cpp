// See command_line.h.
#include "tools/twinloom/command_line.h"

#include <algorithm>
#include <cctype>

#include "core/base/text.h"

namespace twinloom::tool {

namespace {

std::string itself(const std::string& text) { return text; }

OptionLine line_of(const CLI::Option& option) {
  OptionLine line;
  for (const std::string& name : option.get_snames()) line.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) line.names.push_back("--" + name);
  const bool is_flag = option.get_items_expected_max() == 0;
  // Behind ':' stands what its values must be, for the parser.
  if (!is_flag) line.value = option.get_type_name().substr(0, option.get_type_name().find(":NON"));
  line.several = option.get_items_expected_max() > 1;
  line.description = option.get_description();
  return line;
}

void add_lines(const CLI::App& app, std::vector<std::string> path, std::vector<CommandLine>& lines) {
  CommandLine line;
  line.path = path;
  line.description = app.get_description();
  line.notes = app.get_footer();
  for (const CLI::Option* option : app.get_options())
    (option->nonpositional() ? line.options : line.places).push_back(line_of(*option));
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* command : commands) line.commands.push_back(command->get_name());
  lines.push_back(std::move(line));
  path.emplace_back();
  for (const CLI::App* command : commands) {
    path.back() = command->get_name();
    add_lines(*command, path, lines);
  }
}

}  // namespace

std::string takes::one_of(const std::vector<std::string>& choices) { return join(choices, "|", itself); }

std::vector<std::string> OptionLine::choices() const {
  std::vector<std::string> choices;
  const auto stands_for_another = [](const std::string& choice) {
    return std::ranges::any_of(choice, [](unsigned char letter) { return std::isupper(letter) != 0; });
  };
  for (std::size_t begin = 0; begin < value.size();) {
    const std::size_t end = std::min(value.find('|', begin), value.size());
    choices.push_back(value.substr(begin, end - begin));
    if (stands_for_another(choices.back())) choices.pop_back();
    begin = end + 1;
  }
  return choices;
}

std::string CommandLine::name() const { return join(path, " ", itself); }

std::vector<CommandLine> command_lines(const CLI::App& program) {
  std::vector<CommandLine> lines;
  add_lines(program, {}, lines);
  return lines;
}

}  // namespace twinloom::tool
