// The whole program: parses the command line and runs one command. See exit_codes.h.
#include "core/base/text.h"
#include "tools/twinloom/commands.h"
#include "tools/twinloom/failure.h"
#include "tools/twinloom/variables.h"

namespace twinloom::tool {

namespace {

// "Exit codes: 0 done, 1 ...", and the variables of the environment.
std::string exits_and_variables() {
  const auto code = [](const ExitCode& each) { return cat(each.number, " ", each.words); };
  std::string text = cat("Exit codes: ", join(exit_codes, ", ", code), ".\nVariables of the environment:");
  for (const Variable& variable : variables) text += cat("\n  ", variable.name, "  ", variable.words, ".");
  return text;
}

// "twinloom cache list"
std::string words_of_asked(const CLI::App& app) {
  std::string words = app.get_name();
  for (const CLI::App* asked : app.get_subcommands()) words += cat(" ", words_of_asked(*asked));
  return words;
}

int run_asked(const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    if (const int code = command(); code >= 0) return code;
  }
  return exits::wrong_command_line;
}

}  // namespace

int run_program(std::span<const std::string> words, const FindDevice& find_device) {
  Progress progress;
  const Context context{find_device, &progress};
  CLI::App app("Twinloom, a tensor compiler: runs, checks, times and explains graphs of tensor operations.",
               "twinloom");
  app.require_subcommand(1);
  app.set_version_flag("--version", TWINLOOM_VERSION);
  app.footer(exits_and_variables());
  const std::vector<Command> commands = {add_run(app, context),
                                         add_verify(app, context),
                                         add_bench(app, context),
                                         add_explain(app, context),
                                         add_dump(app, context),
                                         add_export(app, context),
                                         add_conformance(app, context),
                                         add_cache(app, context),
                                         add_calibrate(app, context),
                                         add_devices(app),
                                         add_ops(app),
                                         add_completion(app),
                                         add_man(app)};
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // it takes them from the end
    progress.begin(words_of_asked(app));
    return run_asked(commands);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exits::done : exits::wrong_command_line;
  } catch (const std::exception& error) {
    const Failure failure = failure_of(error);
    print_failure(failure);
    return failure.code;
  }
}

}  // namespace twinloom::tool
