// twinloom completion, man: the command line as a shell and man(1) read it.
#include <array>
#include <iostream>

#include "core/base/error.h"
#include "tools/twinloom/commands.h"
#include "tools/twinloom/completion.h"
#include "tools/twinloom/manual.h"

namespace twinloom::tool {

namespace {

struct Shell {
  std::string_view name;
  std::string (*script)(std::span<const CommandLine> commands, const std::string& program);
};
constexpr std::array<Shell, 3> shells = {
    {{"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}}};

std::vector<std::string> shell_names() {
  std::vector<std::string> names;
  for (const Shell& shell : shells) names.emplace_back(shell.name);
  return names;
}

int print_completion(const CLI::App& app, const std::string& asked) {
  for (const Shell& shell : shells) {
    if (shell.name != asked) continue;
    std::cout << shell.script(command_lines(app), app.get_name());
    return exits::done;
  }
  throw Error(cat("there is no completion for the shell '", escaped(asked), "'; shells are ",
                  join(shells, ", ", [](const Shell& shell) { return shell.name; })));
}

}  // namespace

Command add_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  CLI::App* sub =
      app.add_subcommand("completion", "Print what a shell reads to complete commands and options");
  sub->add_option("shell", *shell, "The shell")->required()->type_name(takes::one_of(shell_names()));
  sub->footer("Example: source <(twinloom completion bash)");
  return [sub, shell, &app] { return sub->parsed() ? print_completion(app, *shell) : -1; };
}

Command add_man(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("man", "Print the manual, for man(1)");
  sub->footer("Example: twinloom man >twinloom.1 && man -l twinloom.1");
  return [sub, &app] {
    if (!sub->parsed()) return -1;
    std::cout << manual(command_lines(app), app.get_name(), TWINLOOM_VERSION);
    return exits::done;
  };
}

}  // namespace twinloom::tool
