// The words that print and parse share. See printed.h.
#include <algorithm>
#include <charconv>

#include "core/loops/printed.h"

namespace twinloom::loops {

namespace {

template <class Integer>
bool whole_number(std::string_view text, Integer& number) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  return status == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string_view name(Bind bind) {
  switch (bind) {
    case Bind::serial:
      return "serial";
    case Bind::unroll:
      return "unroll";
    case Bind::vector:
      return "vector";
    case Bind::thread:
      return "thread";
    case Bind::block:
      return "block";
  }
  return "";
}

std::string_view name(Update update) {
  switch (update) {
    case Update::replace:
      return "replace";
    case Update::atomic_add:
      return "atomic_add";
    case Update::atomic_max:
      return "atomic_max";
  }
  return "";
}

std::string_view name(Pairing pairing) {
  switch (pairing) {
    case Pairing::halves:
      return "halves";
    case Pairing::neighbours:
      return "neighbours";
  }
  return "";
}

std::string_view name(Place place) {
  switch (place) {
    case Place::registers:
      return "registers";
    case Place::scratch:
      return "scratch";
    case Place::memory:
      return "memory";
  }
  return "";
}

std::string_view name(Routine routine) {
  switch (routine) {
    case Routine::stable_sort:
      return "stable_sort";
    case Routine::sums_by_key:
      return "sums_by_key";
  }
  return "";
}

Literal zero_of(ops::DType dtype) {
  const ops::TypeKind kind = ops::kind(dtype);
  const bool real = kind == ops::TypeKind::floating || kind == ops::TypeKind::narrow_float;
  return {real ? ops::Number(0.0) : ops::Number(0), dtype};
}

std::optional<Read> read_of(std::string_view text) {
  const std::size_t dot = std::min(text.find('.'), text.size());
  std::uint32_t temp = 0;
  int part = 0;
  bool good = text.starts_with('t') && whole_number(text.substr(1, dot - 1), temp);
  if (dot != text.size()) good = good && whole_number(text.substr(dot + 1), part);
  return good ? std::optional(Read{Temp{temp}, part}) : std::nullopt;
}

}  // namespace twinloom::loops
