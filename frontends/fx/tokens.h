// The words of the modules in an FX text. Ends of lines count only outside brackets, as in Python; what
// stands before a class and after its return is skipped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace twinloom::fx {

struct Token {
  enum class Kind {
    name,  // letters, digits, _ and inner dots: torch.ops.aten.add.Tensor
    number,
    text,     // without its quotes
    symbol,   // ( ) [ ] { } , : ; = + - * / // % ** & | ^ ~ << >> < <= > >= == != ->
    comment,  // without the #
    line_end,
    end,
  };
  Kind kind;
  std::string text;
  int line;
};

// Error "FX graph line L: ..." for a character or a quote that does not belong.
std::vector<Token> tokens_of(std::string_view text);

// The line without terminal colours and log prefixes.
std::string without_prefix(std::string_view line);

}  // namespace twinloom::fx
