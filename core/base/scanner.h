// Reads the printed forms back: words, numbers and punctuation with line and column.
//   Scanner scanner(text, "schedule");
//   scanner.expect("split"); const auto name = scanner.word();
// White space and `# comments` are skipped; ends of line count only for messages. Every mistake is an
// Error "FORM line L column C: expected X, found Y".
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"

namespace twinloom {

class Scanner {
 public:
  // `form` names what is read, for messages. The text must outlive the scanner.
  Scanner(std::string_view text, std::string form);

  bool at_end();
  // True, and past it, when `token` comes next. A token of letters must end where the word ends.
  bool accept(std::string_view token);
  // True when `token` comes next; nothing is consumed.
  bool peek(std::string_view token);
  void expect(std::string_view token);

  // [A-Za-z_][A-Za-z0-9_.]*; a final '.' is not part of it.
  std::string word();
  bool peek_word();
  // Decimal, with an optional '-'; must fit 64 bits.
  std::int64_t integer();
  // The same from -most to most.
  std::int64_t integer_up_to(std::int64_t most);
  bool peek_number();
  // As printed by print_double of number.h, or decimal; also inf, -inf and nan.
  double real();
  // True when the number that comes next is written as a real (has one of . e p x, or is inf or nan).
  bool peek_real();
  // Between double quotes, with the escapes of escaped().
  std::string quoted();

  [[noreturn]] void fail(std::string_view expected);
  int line() const { return line_; }

 private:
  void skip();
  std::string found() const;
  std::string_view text_;
  std::string form_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::size_t line_start_ = 0;
};

// The one of these values whose name() comes next; nothing, and nothing read, where none does.
template <class Choice>
std::optional<Choice> accept_one_of(Scanner& scanner, std::initializer_list<Choice> choices) {
  for (const Choice choice : choices)
    if (scanner.accept(name(choice))) return choice;
  return std::nullopt;
}
template <class Choice>
Choice read_one_of(Scanner& scanner, std::initializer_list<Choice> choices) {
  const auto found = accept_one_of(scanner, choices);
  if (!found) scanner.fail(join(choices, " or ", [](Choice choice) { return name(choice); }));
  return *found;
}

// Items between commas, one at least, each as read() reads it.
template <class Item, class Read>
std::vector<Item> read_list(Scanner& scanner, Read read) {
  std::vector<Item> items;
  do items.push_back(read());
  while (scanner.accept(","));
  return items;
}

}  // namespace twinloom
