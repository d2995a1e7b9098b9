// Text in small pieces: cat() joins values, join() a list, Writer writes indented lines.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace twinloom {

namespace base {
void append(std::string& text, std::int64_t value);
void append(std::string& text, std::uint64_t value);
void append(std::string& text, float value);  // the shortest decimal that reads back
void append(std::string& text, double value);

template <class Value>
void append_any(std::string& text, const Value& value) {
  if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
    text += std::string_view(value);
  } else if constexpr (std::same_as<Value, char>) {
    text += value;
  } else if constexpr (std::same_as<Value, bool>) {
    text += value ? "true" : "false";
  } else if constexpr (std::signed_integral<Value>) {
    append(text, static_cast<std::int64_t>(value));
  } else if constexpr (std::unsigned_integral<Value>) {
    append(text, static_cast<std::uint64_t>(value));
  } else if constexpr (std::floating_point<Value>) {
    append(text, value);
  } else {
    text += print(value);
  }
}
}  // namespace base

// The values one after the other; one of our own types as its print() spells it. No header of a
// formatting library here: nearly every file includes this one.
template <class... Values>
std::string cat(const Values&... values) {
  std::string text;
  (base::append_any(text, values), ...);
  return text;
}

// "12.3 us".
std::string microseconds(double seconds);

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
