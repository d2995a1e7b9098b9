// Text in small pieces: cat() joins values, join() a list, Writer writes indented lines.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace twinloom {

// The values one after the other, each as fmt prints it.
template <class... Values>
std::string cat(const Values&... values) {
  std::string text;
  (fmt::format_to(std::back_inserter(text), "{}", values), ...);
  return text;
}

// spell(item) for each item, with `between` in between.
template <class Items, class Spell>
std::string join(const Items& items, std::string_view between, Spell&& spell) {
  std::string text;
  bool first = true;
  for (const auto& item : items) {
    if (!first) text += between;
    first = false;
    text += spell(item);
  }
  return text;
}

// The text with every byte outside printable ASCII, and every backslash and quote, written as an
// escape: for a user's names in messages, comments of generated code and printed forms.
std::string escaped(std::string_view text);

// The known name nearest to `given` by edit distance, or an empty text when none is near.
template <class Names>
std::string nearest_name(std::string_view given, const Names& known);
int edit_distance(std::string_view a, std::string_view b);

// Collects lines. Indentation is two spaces a level.
class Writer {
 public:
  template <class... Values>
  void line(const Values&... values) {
    append(cat(values...));
  }
  void indent() { ++depth_; }
  void dedent() { --depth_; }
  const std::string& text() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  void append(std::string_view words);
  std::string text_;
  int depth_ = 0;
};

// Indents a writer for the length of a scope.
class Indented {
 public:
  explicit Indented(Writer& writer) : writer_(writer) { writer_.indent(); }
  ~Indented() { writer_.dedent(); }
  Indented(const Indented&) = delete;
  Indented& operator=(const Indented&) = delete;

 private:
  Writer& writer_;
};

template <class Names>
std::string nearest_name(std::string_view given, const Names& known) {
  std::string best;
  int best_distance = static_cast<int>(given.size()) / 2 + 1;
  for (const auto& name : known) {
    const int distance = edit_distance(given, name);
    if (distance < best_distance) {
      best_distance = distance;
      best = name;
    }
  }
  return best;
}

}  // namespace twinloom
