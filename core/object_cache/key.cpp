// See key.h.
#include "core/object_cache/key.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "core/base/text.h"

namespace twinloom::object_cache {

namespace {

std::vector<std::string_view> pieces(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (std::size_t end = 0; end != std::string_view::npos;
       text.remove_prefix(std::min(end + 1, text.size()))) {
    end = text.find(separator);
    pieces.push_back(text.substr(0, end));
  }
  return pieces;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t most = 60;
  return cat("'", escaped(text.substr(0, most)), text.size() > most ? "..." : "", "'");
}

// Texts of several lines are compared by line, others by word.
std::string describe_difference(const Field& asked, const std::string& kept) {
  const bool lines = asked.text.find('\n') != std::string::npos || kept.find('\n') != std::string::npos;
  std::vector<std::string_view> here = pieces(asked.text, lines ? '\n' : ' ');
  std::vector<std::string_view> there = pieces(kept, lines ? '\n' : ' ');
  const std::size_t most = std::max(here.size(), there.size());
  here.resize(most);
  there.resize(most);
  const auto [one, other] = std::ranges::mismatch(here, there);
  const std::string head = cat(asked.name, asked.name.ends_with('s') ? " differ at " : " differs at ");
  if (one == here.end()) return cat(head, "the end");
  return cat(head, lines ? "line " : "word ", one - here.begin() + 1, ": ", quoted(*one), " is asked for, ",
             quoted(*other), " is kept");
}

std::set<std::string> names_of(const Key& asked, const Key& kept) {
  std::set<std::string> names;
  for (const Key* key : {&asked, &kept})
    for (const Field& field : *key) names.insert(field.name);
  return names;
}

}  // namespace

Key kernel_key(std::string_view kernel, const std::string& target, std::string_view identity,
               std::string source) {
  Key key = {{kernel_field, std::string(kernel)}, {target_field, target}, {"twinloom", TWINLOOM_VERSION}};
  for (const std::string_view line : pieces(identity, '\n')) {
    if (line.empty()) continue;
    const std::size_t space = std::min(line.find(' '), line.size());
    key.push_back(
        {std::string(line.substr(0, space)), std::string(line.substr(std::min(space + 1, line.size())))});
  }
  key.push_back({source_field, std::move(source)});
  return key;
}

std::string subject_of(const Key& key) {
  const bool is_graph = std::ranges::find(key, graph_field, &Field::name) != key.end();
  return is_graph ? cat("graph ", text_of(key, graph_field)) : text_of(key, kernel_field);
}

const std::string& text_of(const Key& key, const std::string& name) {
  static const std::string nothing;
  const auto found = std::ranges::find(key, name, &Field::name);
  return found == key.end() ? nothing : found->text;
}

int count_differences(const Key& asked, const Key& kept) {
  int count = 0;
  for (const std::string& name : names_of(asked, kept)) count += text_of(asked, name) != text_of(kept, name);
  return count;
}

std::string describe_differences(const Key& asked, const Key& kept) {
  std::vector<std::string> words;
  for (const std::string& name : names_of(asked, kept)) {
    const Field field{name, text_of(asked, name)};
    if (field.text != text_of(kept, name)) words.push_back(describe_difference(field, text_of(kept, name)));
  }
  return join(words, "; ", [](const std::string& difference) { return difference; });
}

}  // namespace twinloom::object_cache
