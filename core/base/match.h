// Takes a node apart by its kind.
//   match(stmt, [](const Loop& loop) {...}, [](const Block& block) {...}, ...)
// A node is a struct with a std::variant named `node`. Every kind needs a case of its own: a case
// that takes `auto` is not written, so that a new kind stops the build wherever it matters.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

namespace twinloom {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

template <class Variant, class Matcher>
inline constexpr bool has_case_for_every_kind = false;
template <class... Kinds, class Matcher>
inline constexpr bool has_case_for_every_kind<std::variant<Kinds...>, Matcher> =
    (std::is_invocable_v<Matcher&, const Kinds&> && ...);

template <class Node, class... Cases>
decltype(auto) match(const Node& node, Cases&&... cases) {
  using Matcher = Overloaded<std::decay_t<Cases>...>;
  static_assert(has_case_for_every_kind<std::remove_cvref_t<decltype(node.node)>, Matcher>,
                "match() needs one case for each kind of node");
  return std::visit(Matcher{std::forward<Cases>(cases)...}, node.node);
}

}  // namespace twinloom
