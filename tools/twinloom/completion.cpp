// See completion.h. Each script is made from the same list; what bash does with a word is the shortest of
// them.
#include "tools/twinloom/completion.h"

#include <algorithm>
#include <array>

#include "core/base/text.h"

namespace twinloom::tool {

namespace {

std::string spaced(const std::vector<std::string>& words) {
  return join(words, " ", [](const std::string& word) { return word; });
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

// For bash and zsh, which take no escapes between single quotes.
std::string quoted(const std::string& text) { return cat("'", replaced(text, "'", "'\\''"), "'"); }

bool takes_files(const std::vector<OptionLine>& places) {
  return std::ranges::any_of(places, &OptionLine::takes_file);
}

std::vector<std::string> choices_of(const std::vector<OptionLine>& places) {
  std::vector<std::string> choices;
  for (const OptionLine& place : places)
    for (std::string& choice : place.choices()) choices.push_back(std::move(choice));
  return choices;
}

std::vector<std::string> option_names(const CommandLine& command) {
  std::vector<std::string> names;
  for (const OptionLine& option : command.options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

// Those that may follow.
std::vector<CommandLine> commands_of(const CommandLine& command, std::span<const CommandLine> all) {
  std::vector<CommandLine> own;
  for (const CommandLine& each : all) {
    const bool is_below = each.path.size() == command.path.size() + 1 &&
                          std::equal(command.path.begin(), command.path.end(), each.path.begin());
    if (is_below) own.push_back(each);
  }
  return own;
}

// ---- bash ----

// Patterns of `case`, "'run --isa' | 'bench --isa'".
std::string patterns(const CommandLine& command, const std::vector<std::string>& words) {
  return join(words, " | ", [&](const std::string& word) { return quoted(cat(command.name(), " ", word)); });
}

void write_bash_values(Writer& writer, const CommandLine& command) {
  for (const OptionLine& option : command.options) {
    if (option.value.empty()) continue;
    const std::string pattern = patterns(command, option.names);
    if (option.takes_file())
      writer.line(pattern, ") values=files ;;");
    else if (option.takes_folder())
      writer.line(pattern, ") values=folders ;;");
    else
      writer.line(pattern, ") values=words words=", quoted(spaced(option.choices())), " ;;");
  }
}

void write_bash_command(Writer& writer, const CommandLine& command) {
  std::vector<std::string> words = command.commands;
  for (std::string& choice : choices_of(command.places)) words.push_back(std::move(choice));
  writer.line(quoted(command.name()), ") options=", quoted(spaced(option_names(command))),
              " words=", quoted(spaced(words)), takes_files(command.places) ? " values=files" : "", " ;;");
}

constexpr std::array bash_answer = {
    "compopt -o filenames 2>/dev/null",
    "case $values in",
    "  folders) mapfile -t COMPREPLY < <(compgen -d -- \"$word\") ;;",
    "  files) mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;",
    "  *) compopt +o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\") ;;",
    "esac"};

// ---- zsh ----

std::string zsh_name(const CommandLine& command, const std::string& program) {
  return cat("_", program, replaced(cat(command.path.empty() ? "" : "_", command.name()), " ", "_"));
}

// What stands for values, behind the colons of a specification.
std::string zsh_values(const OptionLine& option) {
  if (option.takes_file()) return ":file:_files";
  if (option.takes_folder()) return ":folder:_files -/";
  const std::string words = spaced(option.choices());
  return words.empty() ? ":value: " : cat(":value:(", words, ")");
}

std::string zsh_description(const std::string& text) {
  return replaced(replaced(replaced(replaced(text, "\\", "\\\\"), "[", "\\["), "]", "\\]"), ":", "\\:");
}

std::string zsh_option(const OptionLine& option, const std::string& name) {
  const bool has_value = !option.value.empty();
  const std::string described = cat(name, has_value && name.starts_with("--") ? "=" : "", "[",
                                    zsh_description(option.description), "]");
  return quoted(cat(option.several ? "*" : "", described, has_value ? zsh_values(option) : ""));
}

void write_zsh_command(Writer& writer, const CommandLine& command, std::span<const CommandLine> commands,
                       const std::string& program) {
  writer.line(zsh_name(command, program), "() {");
  {
    const Indented body(writer);
    writer.line("local curcontext=$curcontext state line");
    writer.line("_arguments -C \\");
    for (const OptionLine& option : command.options)
      for (const std::string& name : option.names) writer.line("  ", zsh_option(option, name), " \\");
    for (const OptionLine& place : command.places)
      writer.line("  ", quoted(cat(place.several ? "*" : "1", zsh_values(place))), " \\");
    writer.line(command.commands.empty() ? "  && return"
                                         : "  '1:command:->command' '*::argument:->argument' && return");
    if (!command.commands.empty()) {
      writer.line("case $state in");
      writer.line("  command)");
      writer.line("    local -a commands=(");
      for (const CommandLine& each : commands_of(command, commands))
        writer.line("      ", quoted(cat(each.path.back(), ":", zsh_description(each.description))));
      writer.line("    )");
      writer.line("    _describe command commands ;;");
      writer.line("  argument)");
      writer.line("    local name=", zsh_name(command, program), "_$line[1]");
      writer.line("    (( $+functions[$name] )) && $name ;;");
      writer.line("esac");
    }
  }
  writer.line("}");
}

// ---- fish ----

// Whether the command is the one that is typed.
std::string fish_condition(const CommandLine& command) {
  std::string condition;
  for (const std::string& word : command.path)
    condition += cat(condition.empty() ? "" : "; and ", "__fish_seen_subcommand_from ", word);
  if (command.commands.empty()) return condition;
  return cat(condition, condition.empty() ? "" : "; and ", "not __fish_seen_subcommand_from ",
             spaced(command.commands));
}

std::string fish_quoted(const std::string& text) {
  return cat("'", replaced(replaced(text, "\\", "\\\\"), "'", "\\'"), "'");
}

std::string fish_values(const OptionLine& option) {
  if (option.value.empty()) return {};
  if (option.takes_file()) return " -r -F";
  if (option.takes_folder()) return " -x -a '(__fish_complete_directories)'";
  const std::string words = spaced(option.choices());
  return words.empty() ? " -x" : cat(" -x -a ", fish_quoted(words));
}

void write_fish_command(Writer& writer, const CommandLine& command, std::span<const CommandLine> commands,
                        const std::string& program) {
  const std::string head = cat("complete -c ", program, " -n ", fish_quoted(fish_condition(command)));
  for (const CommandLine& each : commands_of(command, commands))
    writer.line(head, " -a ", each.path.back(), " -d ", fish_quoted(each.description));
  if (takes_files(command.places)) writer.line(head, " -F");
  for (const std::string& choice : choices_of(command.places)) writer.line(head, " -a ", choice);
  for (const OptionLine& option : command.options) {
    std::string names;
    for (const std::string& name : option.names)
      names += name.starts_with("--") ? cat(" -l ", name.substr(2)) : cat(" -s ", name.substr(1));
    writer.line(head, names, fish_values(option), " -d ", fish_quoted(option.description));
  }
}

}  // namespace

std::string bash_completion(std::span<const CommandLine> commands, const std::string& program) {
  Writer writer;
  writer.line("# bash completion for ", program, "; `", program, " completion bash` prints it.");
  writer.line("_", program, "() {");
  {
    const Indented body(writer);
    writer.line("local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}");
    writer.line("local command='' options='' words='' values='' at");
    writer.line("# --option=value is three words.");
    writer.line("if [[ $word == '=' ]]; then word=''");
    writer.line("elif [[ $before == '=' ]]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi");
    writer.line("for ((at = 1; at < COMP_CWORD; ++at)); do");
    writer.line("  case \"$command ${COMP_WORDS[at]}\" in");
    for (const CommandLine& command : commands)
      if (!command.commands.empty())
        writer.line("    ", patterns(command, command.commands),
                    ") command+=${command:+ }${COMP_WORDS[at]} ;;");
    writer.line("  esac");
    writer.line("done");
    writer.line("case $command in");
    for (const CommandLine& command : commands) write_bash_command(writer, command);
    writer.line("esac");
    writer.line("if [[ $word == -* ]]; then words=$options values=''; fi");
    writer.line("case \"$command $before\" in");
    for (const CommandLine& command : commands) write_bash_values(writer, command);
    writer.line("esac");
    for (const char* line : bash_answer) writer.line(line);
  }
  writer.line("}");
  writer.line("complete -F _", program, " ", program);
  return writer.take();
}

std::string zsh_completion(std::span<const CommandLine> commands, const std::string& program) {
  Writer writer;
  writer.line("#compdef ", program);
  writer.line("# `", program, " completion zsh` prints this.");
  for (const CommandLine& command : commands) write_zsh_command(writer, command, commands, program);
  writer.line("if [[ $funcstack[1] == _", program, " ]]; then");
  writer.line("  _", program, " \"$@\"");
  writer.line("else");
  writer.line("  compdef _", program, " ", program);
  writer.line("fi");
  return writer.take();
}

std::string fish_completion(std::span<const CommandLine> commands, const std::string& program) {
  Writer writer;
  writer.line("# `", program, " completion fish` prints this.");
  writer.line("complete -c ", program, " -f");
  for (const CommandLine& command : commands) write_fish_command(writer, command, commands, program);
  return writer.take();
}

}  // namespace twinloom::tool
