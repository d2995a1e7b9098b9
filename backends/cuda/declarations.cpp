// See declarations.h. A declaration ends with a ; or with the } of a function's body.
#include "backends/cuda/declarations.h"

#include <algorithm>
#include <cctype>
#include <unordered_set>

#include "core/base/error.h"

namespace twinloom::cuda {

namespace {

bool starts_word(char letter) {
  return std::isalpha(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}
bool continues_word(char letter) {
  return starts_word(letter) || std::isdigit(static_cast<unsigned char>(letter)) != 0;
}
bool is_word(std::string_view token) { return starts_word(token.front()); }

// Words, numbers, strings, directives (a line each) and single letters, without spaces and comments.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : rest_(text) {}

  // Empty at the end.
  std::string_view peek() {
    skip();
    return rest_.substr(0, length());
  }
  std::string_view next() {
    const std::string_view token = peek();
    rest_.remove_prefix(token.size());
    return token;
  }

 private:
  void skip() {
    while (!rest_.empty()) {
      if (std::isspace(static_cast<unsigned char>(rest_.front())) != 0)
        rest_.remove_prefix(1);
      else if (rest_.starts_with("//"))
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      else
        return;
    }
  }
  std::size_t length() const {
    if (rest_.empty()) return 0;
    std::size_t size = 1;
    if (rest_.front() == '#') return std::min(rest_.find('\n'), rest_.size());
    if (rest_.front() == '"') {
      while (size < rest_.size() && rest_[size] != '"') size += rest_[size] == '\\' ? 2u : 1u;
      return std::min(size + 1, rest_.size());
    }
    if (!continues_word(rest_.front())) return 1;
    const bool is_number = !starts_word(rest_.front());
    while (size < rest_.size() && (continues_word(rest_[size]) || (is_number && rest_[size] == '.'))) ++size;
    return size;
  }

  std::string_view rest_;
};

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  Tokens tokens(text);
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
    if (token.front() == '#' && token.size() > 1) {
      const std::vector<std::string_view> inside = words_of(token.substr(1));
      words.insert(words.end(), inside.begin(), inside.end());
    } else if (is_word(token)) {
      words.push_back(token);
    }
  }
  return words;
}

// Past what stands between `open` and `close`, the first of which was read.
void skip_nested(Tokens& tokens, std::string_view open, std::string_view close) {
  for (int depth = 1; depth > 0;) {
    const std::string_view token = tokens.next();
    CHECK(!token.empty(), "a '", open, "' of the device headers has no end");
    depth += token == open ? 1 : token == close ? -1 : 0;
  }
}

// The last word outside < > and attributes before what a declaration's parameters, members or value begin
// with.
std::string_view name_of(std::string_view text) {
  if (text.starts_with('#')) return words_of(text)[1];  // #define NAME
  const bool is_import = text.starts_with("using ") && text.find('=') == std::string_view::npos;
  Tokens tokens(text);
  std::string_view name;
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
    if (token == "operator") return token;
    if (token == "(" || token == "=" || token == "{" || token == ";" || token == "[") break;
    if (token == "__attribute__" || token == "alignas") {
      tokens.next();
      skip_nested(tokens, "(", ")");
    } else if (token == "<") {
      skip_nested(tokens, "<", ">");
    } else if (is_word(token)) {
      name = token;
    }
  }
  CHECK(is_import || !name.empty(), "a declaration without a name: ", text);
  return name;
}

std::string_view between(std::string_view first, std::string_view last) {
  return {first.data(), static_cast<std::size_t>(last.data() + last.size() - first.data())};
}

// From its first token, which was read, to its last.
std::string_view declaration(Tokens& tokens, std::string_view first) {
  if (first.starts_with('#')) return first;
  int depth = 0;
  for (std::string_view token = first;; token = tokens.next()) {
    CHECK(!token.empty(), "a declaration of the device headers has no end");
    if (token == "(" || token == "{" || token == "[") ++depth;
    if (token == ")" || token == "}" || token == "]") --depth;
    if (depth == 0 && (token == ";" || (token == "}" && tokens.peek() != ";"))) return between(first, token);
  }
}

}  // namespace

Declarations::Declarations(std::string_view text) {
  Tokens tokens(text);
  std::string_view scope;
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
    if (token == "namespace") {
      std::string_view last = token;
      while (last != "{") last = tokens.next();
      scope = between(token, last);
    } else if (token == "}") {
      scope = {};
    } else if (!token.starts_with("#undef")) {
      const std::string_view whole = declaration(tokens, token);
      named_[name_of(whole)].push_back(all_.size());
      all_.push_back({token.starts_with('#') ? std::string_view() : scope, whole, words_of(whole)});
    }
  }
}

std::string Declarations::needed_by(std::string_view kernel) const {
  // Nobody names an operator.
  std::vector<std::string_view> named = words_of(kernel);
  named.emplace_back("operator");
  std::unordered_set<std::string_view> met(named.begin(), named.end());
  std::vector<bool> is_needed(all_.size());
  while (!named.empty()) {
    const auto found = named_.find(named.back());
    named.pop_back();
    if (found == named_.end()) continue;
    for (const std::size_t at : found->second) {
      is_needed[at] = true;
      for (const std::string_view word : all_[at].words)
        if (met.insert(word).second) named.push_back(word);
    }
  }
  std::string text, scope;
  for (std::size_t at = 0; at < all_.size(); ++at) {
    if (!is_needed[at]) continue;
    if (scope != all_[at].scope) {
      text += cat(scope.empty() ? "" : "}\n", all_[at].scope, all_[at].scope.empty() ? "" : "\n");
      scope = all_[at].scope;
    }
    text += cat(all_[at].text, "\n");
  }
  return scope.empty() ? text : text + "}\n";
}

}  // namespace twinloom::cuda
