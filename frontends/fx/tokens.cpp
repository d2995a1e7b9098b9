// See tokens.h.
#include "frontends/fx/tokens.h"

#include <array>
#include <cctype>
#include <optional>

#include "frontends/fx/fail.h"

namespace twinloom::fx {

namespace {

constexpr std::string_view escape = "\x1b[";

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool continues_name(char c) { return starts_name(c) || is_digit(c); }

std::string without_colours(std::string_view line) {
  std::string out;
  while (!line.empty()) {
    if (line.starts_with(escape)) {
      const std::size_t end = line.find('m');
      line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
    } else {
      out += line.front();
      line.remove_prefix(1);
    }
  }
  return out;
}

// "V1121 09:30:00.123000 4711 torch/fx.py:12] [0/0] [__aot_graphs] rest" -> " rest", also behind "[rank0]:"
std::string_view without_log_prefix(std::string_view line) {
  if (line.starts_with("[rank") && line.find("]:") != std::string_view::npos)
    line.remove_prefix(line.find("]:") + 2);
  const bool level = !line.empty() && std::string_view("VDIWEC").find(line[0]) != std::string_view::npos;
  if (!level || line.size() < 6 || !is_digit(line[1]) || !is_digit(line[4]) || line[5] != ' ') return line;
  const std::size_t end = line.find(']');
  if (end == std::string_view::npos) return line;
  line.remove_prefix(end + 1);
  while (line.starts_with(" [")) {
    const std::size_t close = line.find(']');
    if (close == std::string_view::npos) break;
    line.remove_prefix(close + 1);
  }
  return line;
}

// Where `class NAME(BASE):` starts; a path may stand before it, as in logs.
std::optional<std::size_t> start_of_class(std::string_view line) {
  constexpr std::string_view word = "class ";
  const std::size_t at = line.starts_with(word) ? 0 : line.find(" class ");
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t start = line.find(word, at);
  std::string_view rest = line.substr(start);
  while (!rest.empty() && (rest.back() == ' ' || rest.back() == '\r')) rest.remove_suffix(1);
  const bool is_head = rest.ends_with(':') && rest.size() > word.size() &&
                       (starts_name(rest[word.size()]) || rest[word.size()] == '<');
  return is_head ? std::optional(start) : std::nullopt;
}

class Lexer {
 public:
  explicit Lexer(std::vector<Token>& tokens) : tokens_(tokens) {}

  // Text between modules is anything at all: only what stands from a class to the end of its return counts.
  void read_line(std::string_view text, int line) {
    line_ = line;
    if (const auto start = depth_ == 0 ? start_of_class(text) : std::nullopt) {
      text.remove_prefix(*start);
      in_module_ = true;
    }
    if (!in_module_) return;
    const std::size_t before = tokens_.size();
    while (!text.empty()) text.remove_prefix(read_token(text));
    if (depth_ == 0 && !tokens_.empty() && tokens_.back().kind != Token::Kind::line_end) {
      tokens_.push_back({Token::Kind::line_end, "", line_});
    }
    if (tokens_.size() > before && tokens_[before].kind == Token::Kind::name &&
        tokens_[before].text == "return")
      returns_ = true;
    if (returns_ && depth_ == 0) in_module_ = returns_ = false;
  }

 private:
  std::size_t add(Token::Kind kind, std::string_view text, std::size_t length) {
    tokens_.push_back({kind, std::string(text), line_});
    return length;
  }

  // The length of the token, or of the white space, at the start.
  std::size_t read_token(std::string_view text) {
    const char c = text.front();
    if (c == ' ' || c == '\t' || c == '\r') return 1;
    if (c == '#') return add(Token::Kind::comment, text.substr(1), text.size());
    if (c == '"' || c == '\'') return read_quoted(text);
    if (starts_name(c)) return read_name(text);
    if (is_digit(c) || (c == '.' && text.size() > 1 && is_digit(text[1]))) return read_number(text);
    return read_symbol(text);
  }

  std::size_t read_quoted(std::string_view text) {
    const std::size_t end = text.find(text.front(), 1);
    if (end == std::string_view::npos) fail(line_, "a quote is not closed");
    return add(Token::Kind::text, text.substr(1, end - 1), end + 1);
  }

  std::size_t read_name(std::string_view text) {
    std::size_t n = 0;
    while (n < text.size() &&
           (continues_name(text[n]) || (text[n] == '.' && n + 1 < text.size() && starts_name(text[n + 1]))))
      ++n;
    return add(Token::Kind::name, text.substr(0, n), n);
  }

  std::size_t read_number(std::string_view text) {
    std::size_t n = 0;
    while (n < text.size()) {
      const bool exponent_sign =
          (text[n] == '+' || text[n] == '-') && n > 0 && (text[n - 1] == 'e' || text[n - 1] == 'E');
      if (!continues_name(text[n]) && text[n] != '.' && !exponent_sign) break;
      ++n;
    }
    return add(Token::Kind::number, text.substr(0, n), n);
  }

  std::size_t read_symbol(std::string_view text) {
    static constexpr std::array<std::string_view, 9> twos = {
        "//", "**", "<=", ">=", "==", "!=", "->", "<<", ">>"};
    for (const std::string_view two : twos) {
      if (text.starts_with(two)) return add(Token::Kind::symbol, two, 2);
    }
    if (std::string_view("()[]{},:;=+-*/%<>&|^~").find(text.front()) == std::string_view::npos) {
      fail(line_, cat("'", escaped(text.substr(0, 1)), "' does not belong here"));
    }
    if (std::string_view("([{").find(text.front()) != std::string_view::npos) ++depth_;
    if (std::string_view(")]}").find(text.front()) != std::string_view::npos && depth_ > 0) --depth_;
    return add(Token::Kind::symbol, text.substr(0, 1), 1);
  }

  std::vector<Token>& tokens_;
  int line_ = 0;
  int depth_ = 0;           // of open brackets
  bool in_module_ = false;  // from the class on
  bool returns_ = false;    // the return statement has begun
};

}  // namespace

std::string without_prefix(std::string_view line) {
  return std::string(without_log_prefix(without_colours(line)));
}

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  Lexer lexer(tokens);
  int line = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lexer.read_line(without_prefix(text.substr(0, end)), ++line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  tokens.push_back({Token::Kind::end, "", line});
  return tokens;
}

}  // namespace twinloom::fx
