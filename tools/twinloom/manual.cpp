// See manual.h.
#include "tools/twinloom/manual.h"

#include <algorithm>
#include <cctype>

#include "core/base/text.h"
#include "tools/twinloom/exit_codes.h"
#include "tools/twinloom/variables.h"

namespace twinloom::tool {

namespace {

// Text as it is: nothing in it is a request or an escape. A hyphen can be copied as the sign that it is; a
// line may end behind one of several choices.
std::string plain(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    const bool begins_line = result.empty() || result.back() == '\n';
    if (begins_line && (letter == '.' || letter == '\'')) result += "\\&";
    if (letter == '\\')
      result += "\\e";
    else if (letter == '-')
      result += "\\-";
    else if (letter == '|')
      result += "|\\:";
    else
      result += letter;
  }
  return result;
}

std::string bold(std::string_view text) { return cat("\\fB", plain(text), "\\fR"); }
std::string slanted(std::string_view text) { return cat("\\fI", plain(text), "\\fR"); }

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char letter) { return std::toupper(letter); });
  return text;
}

// A paragraph with its name hanging out.
void write_item(Writer& writer, const std::string& head, const std::string& text) {
  writer.line(".TP");
  writer.line(head);
  writer.line(plain(text));
}

// "--device cpu|reference"
std::string head_of(const OptionLine& option) {
  const std::string names = join(option.names, ", ", [](const std::string& name) { return bold(name); });
  if (option.value.empty()) return names;
  return cat(names, names.empty() ? "" : " ", slanted(option.value), option.several ? " ..." : "");
}

void write_command(Writer& writer, const CommandLine& command, const std::string& program) {
  std::string head = cat(program, " ", command.name());
  for (const OptionLine& place : command.places) head += cat(" ", place.value, place.several ? " ..." : "");
  writer.line(".SS ", plain(head));
  writer.line(plain(command.description), ".");
  for (const OptionLine& place : command.places) write_item(writer, head_of(place), place.description);
  for (const OptionLine& option : command.options) write_item(writer, head_of(option), option.description);
  if (command.notes.empty()) return;
  // Lines that somebody broke stay so.
  const bool is_laid_out = command.notes.find('\n') != std::string::npos;
  writer.line(".PP");
  if (is_laid_out) writer.line(".nf");
  writer.line(plain(command.notes));
  if (is_laid_out) writer.line(".fi");
}

}  // namespace

std::string manual(std::span<const CommandLine> commands, const std::string& program,
                   const std::string& version) {
  const CommandLine& whole = commands.front();
  Writer writer;
  writer.line(".TH ", upper(program), " 1 \"\" \"", program, " ", version, "\" \"User Commands\"");
  writer.line(".ad l");
  writer.line(".nh");
  writer.line(".SH NAME");
  writer.line(plain(program), " \\- ", plain(whole.description));
  writer.line(".SH SYNOPSIS");
  writer.line(".B ", plain(program));
  writer.line(".I COMMAND");
  writer.line("[\\fIOPTION\\fR ...]");
  writer.line(".SH OPTIONS");
  for (const OptionLine& option : whole.options) write_item(writer, head_of(option), option.description);
  writer.line(".SH COMMANDS");
  for (const CommandLine& command : commands)
    if (!command.path.empty()) write_command(writer, command, program);
  writer.line(".SH EXIT STATUS");
  for (const ExitCode& code : exit_codes) write_item(writer, bold(cat(code.number)), std::string(code.words));
  writer.line(".SH ENVIRONMENT");
  for (const Variable& variable : variables)
    write_item(writer, bold(variable.name), std::string(variable.words));
  return writer.take();
}

}  // namespace twinloom::tool
