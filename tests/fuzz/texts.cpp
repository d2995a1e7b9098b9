// See texts.h.
#include "tests/fuzz/texts.h"

#include <array>
#include <cctype>
#include <string_view>
#include <vector>

#include "tests/conformance/random.h"

namespace twinloom::tests {

namespace {

struct Token {
  std::size_t begin, end;
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

// Words, numbers and single signs.
std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  for (std::size_t at = 0; at < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
      ++at;
      continue;
    }
    std::size_t end = at + 1;
    while (is_word(text[at]) && end < text.size() && is_word(text[end])) ++end;
    tokens.push_back({at, end});
    at = end;
  }
  return tokens;
}

std::string_view of(std::string_view text, Token token) {
  return text.substr(token.begin, token.end - token.begin);
}

bool is_number(std::string_view token) { return std::isdigit(static_cast<unsigned char>(token[0])) != 0; }

constexpr std::array<std::string_view, 16> numbers = {"0",
                                                      "1",
                                                      "2",
                                                      "3",
                                                      "4",
                                                      "5",
                                                      "7",
                                                      "-1",
                                                      "-3",
                                                      "8",
                                                      "1000",
                                                      "4294967296",
                                                      "2147483648",
                                                      "1099511627776",
                                                      "4611686018427387904",
                                                      "9223372036854775807"};
constexpr std::array<std::string_view, 12> expressions = {"i0",
                                                          "i1",
                                                          "i2",
                                                          "f0",
                                                          "n",
                                                          "m",
                                                          "n - 3",
                                                          "i0 + 1",
                                                          "2*i1",
                                                          "floor_div(i0, 2)",
                                                          "floor_mod(i1, n)",
                                                          "floor_div(n, m - 1)"};

// A number by a number, a word by an expression of the same kind or by another token of the text.
std::string replacement(std::string_view text, const std::vector<Token>& tokens, std::string_view token,
                        Random& random) {
  if (is_number(token) && random.chance(70)) return std::string(random.pick(numbers));
  if (std::isalpha(static_cast<unsigned char>(token[0])) != 0 && random.chance(40))
    return std::string(random.pick(expressions));
  return std::string(of(text, random.pick(tokens)));
}

// Those of index maps and bounds, where damage leaves most texts graphs.
std::vector<Token> tokens_of_maps(std::string_view text, const std::vector<Token>& tokens) {
  std::vector<Token> maps;
  bool in_map = false;
  for (const Token token : tokens) {
    const std::string_view word = of(text, token);
    const bool of_node = text[text.rfind('\n', token.begin) + 1] == '%';
    if (word == "from" || word == "to" || word == "below") in_map = of_node;
    if (word == "%" || word == "else" || word == "name" || word == "file") in_map = false;
    if (in_map && (is_word(word[0]) || word == "-") && word.size() < 4) maps.push_back(token);
  }
  return maps;
}

std::vector<std::size_t> line_starts(const std::string& text) {
  std::vector<std::size_t> starts = {0};
  for (std::size_t at = text.find('\n'); at + 1 < text.size(); at = text.find('\n', at + 1))
    starts.push_back(at + 1);
  return starts;
}

std::string with_line_moved(const std::string& text, Random& random) {
  const std::vector<std::size_t> starts = line_starts(text);
  const auto line = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(starts.size())));
  const std::size_t end = line + 1 < starts.size() ? starts[line + 1] : text.size();
  const std::string moved = text.substr(starts[line], end - starts[line]);
  std::string rest = random.chance(50) ? text : text.substr(0, starts[line]) + text.substr(end);
  const std::vector<std::size_t> places = line_starts(rest);
  return rest.insert(random.pick(places), random.chance(60) ? moved : "");
}

std::string damaged_once(std::string text, Random& random) {
  if (text.empty()) return text;
  if (random.chance(8)) return with_line_moved(text, random);
  if (random.chance(4)) {
    text[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(text.size())))] =
        static_cast<char>(random.below(256));
    return text;
  }
  const std::vector<Token> tokens = tokens_of(text);
  if (tokens.empty()) return text;
  const std::vector<Token> maps = tokens_of_maps(text, tokens);
  const Token token = random.pick(maps.empty() || random.chance(30) ? tokens : maps);
  const std::string put = replacement(text, tokens, of(text, token), random);
  return text.replace(token.begin, token.end - token.begin, put);
}

}  // namespace

std::string damaged(std::string text, int damages, std::uint64_t seed) {
  Random random(seed);
  for (int k = 0; k < damages; ++k) text = damaged_once(std::move(text), random);
  return text;
}

}  // namespace twinloom::tests
