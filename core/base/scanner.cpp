// See scanner.h.
#include "core/base/scanner.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

namespace twinloom {

namespace {

bool starts_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool continues_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

// How many characters of `text` belong to the number at its start.
std::size_t number_length(std::string_view text) {
  std::size_t n = 0;
  if (n < text.size() && text[n] == '-') ++n;
  if (text.substr(n).starts_with("inf") || text.substr(n).starts_with("nan")) return n + 3;
  while (n < text.size()) {
    const char c = text[n];
    const bool sign_of_exponent =
        (c == '+' || c == '-') && n > 0 && (text[n - 1] == 'e' || text[n - 1] == 'p');
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && !sign_of_exponent) break;
    ++n;
  }
  return n;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

Scanner::Scanner(std::string_view text, std::string form) : text_(text), form_(std::move(form)) {}

void Scanner::skip() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (c == '\n') {
      ++at_;
      ++line_;
      line_start_ = at_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else {
      return;
    }
  }
}

bool Scanner::at_end() {
  skip();
  return at_ >= text_.size();
}

bool Scanner::peek(std::string_view token) {
  skip();
  // Most tokens that are asked for begin otherwise.
  if (at_ >= text_.size() || text_[at_] != token.front() || !text_.substr(at_).starts_with(token))
    return false;
  const std::size_t end = at_ + token.size();
  return !(continues_word(token.back()) && token.back() != '.' && end < text_.size() && continues_word(text_[end]));
}

bool Scanner::accept(std::string_view token) {
  if (!peek(token)) return false;
  at_ += token.size();
  return true;
}

void Scanner::expect(std::string_view token) {
  if (!accept(token)) fail(cat("'", token, "'"));
}

bool Scanner::peek_word() {
  skip();
  return at_ < text_.size() && starts_word(text_[at_]);
}

std::string Scanner::word() {
  if (!peek_word()) fail("a name");
  std::size_t end = at_;
  while (end < text_.size() && continues_word(text_[end])) ++end;
  while (text_[end - 1] == '.') --end;
  const std::string word(text_.substr(at_, end - at_));
  at_ = end;
  return word;
}

bool Scanner::peek_number() {
  skip();
  if (at_ >= text_.size()) return false;
  const std::size_t digit = text_[at_] == '-' ? at_ + 1 : at_;
  return digit < text_.size() && std::isdigit(static_cast<unsigned char>(text_[digit])) != 0;
}

bool Scanner::peek_real() {
  skip();
  const std::string_view number = text_.substr(at_, number_length(text_.substr(at_)));
  return number.find_first_of(".epxin") != std::string_view::npos;
}

std::int64_t Scanner::integer() {
  skip();
  std::int64_t value = 0;
  const char* begin = text_.data() + at_;
  const auto [end, status] = std::from_chars(begin, text_.data() + text_.size(), value);
  if (status != std::errc()) fail("an integer of 64 bits");
  at_ += static_cast<std::size_t>(end - begin);
  return value;
}

std::int64_t Scanner::integer_up_to(std::int64_t most) {
  const std::int64_t value = integer();
  if (value < -most || value > most) fail(cat("an integer from ", -most, " to ", most, " before this"));
  return value;
}

double Scanner::real() {
  skip();
  std::string_view number = text_.substr(at_, number_length(text_.substr(at_)));
  const std::size_t length = number.size();
  const bool negative = number.starts_with('-');
  if (negative) number.remove_prefix(1);
  const bool hexadecimal = number.starts_with("0x");
  if (hexadecimal) number.remove_prefix(2);
  double value = 0;
  const auto format = hexadecimal ? std::chars_format::hex : std::chars_format::general;
  const auto [end, status] = std::from_chars(number.data(), number.data() + number.size(), value, format);
  if (status == std::errc::invalid_argument || end != number.data() + number.size()) fail("a number");
  if (status == std::errc::result_out_of_range) fail("a number within the range of a double");
  at_ += length;
  return negative ? -value : value;
}

std::string Scanner::quoted() {
  expect("\"");
  std::string out;
  while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
    if (text_[at_] != '\\') {
      out += text_[at_++];
      continue;
    }
    const std::string_view escape = text_.substr(at_, 4);
    if (escape.size() == 4 && escape[1] == 'x' && hex_digit(escape[2]) >= 0 && hex_digit(escape[3]) >= 0) {
      out += static_cast<char>(16 * hex_digit(escape[2]) + hex_digit(escape[3]));
      at_ += 4;
    } else if (escape.size() >= 2) {
      out += escape[1];
      at_ += 2;
    } else {
      break;
    }
  }
  if (at_ >= text_.size() || text_[at_] != '"') fail("'\"' at the end of a text");
  ++at_;
  return out;
}

std::string Scanner::found() const {
  if (at_ >= text_.size()) return "the end of the text";
  const std::string_view rest = text_.substr(at_, 24);
  return cat("'", escaped(rest.substr(0, rest.find('\n'))), "'");
}

void Scanner::fail(std::string_view expected) {
  skip();
  throw Error(cat(form_, " line ", line_, " column ", at_ - line_start_ + 1, ": expected ", expected,
                  ", found ", found()),
              {"", static_cast<std::int64_t>(line_)});
}

}  // namespace twinloom
