// Makes operators that mean the same equal, hashes them and names them. See infer.h.
//   view at [a, b] from [b, a]    ->    view at [i0, i1] from [i1, i0]
#include <algorithm>
#include <array>

#include "core/base/hash.h"
#include "core/graph/infer.h"

namespace twinloom::graph {

namespace {

// Renames symbols to the k-th of `named`, and remembers it for the expressions.
void rename(std::vector<index::Symbol>& symbols, index::Symbol (*named)(int), index::Substitution& renaming) {
  for (std::size_t k = 0; k < symbols.size(); ++k) {
    const index::Symbol symbol = named(static_cast<int>(k));
    if (symbol != symbols[k]) renaming.emplace(symbols[k], symbol);
    symbols[k] = symbol;
  }
}

void substitute_all(std::vector<index::Expr>& exprs, const index::Substitution& renaming) {
  if (renaming.empty()) return;
  for (index::Expr& expr : exprs) expr = index::substitute(expr, renaming);
}

void make_canonical(View& view, ops::DType element) {
  index::Substitution renaming;
  rename(view.axes, axis_symbol, renaming);
  substitute_all(view.source, renaming);
  if (!renaming.empty()) view.inside = index::substitute(view.inside, renaming);
  // A fill that is never seen must not tell two views apart.
  view.fill = view.inside.all.empty() ? ops::Number(0) : view.fill;
  view.fill = ops::cast(view.fill, element);
}

void make_canonical(Gather& gather, ops::DType) {
  index::Substitution renaming;
  rename(gather.axes, axis_symbol, renaming);
  rename(gather.found, found_symbol, renaming);
  substitute_all(gather.source, renaming);
}

void make_canonical(Scatter& scatter, ops::DType) {
  index::Substitution renaming;
  rename(scatter.axes, axis_symbol, renaming);
  rename(scatter.found, found_symbol, renaming);
  substitute_all(scatter.place, renaming);
}

void make_canonical(Constant& constant, ops::DType) {
  if (auto* number = std::get_if<ops::Number>(&constant.value)) *number = ops::cast(*number, constant.dtype);
}

template <class Kind>
void make_canonical(Kind&, ops::DType) {}

class Hasher {
 public:
  template <class... Parts>
  void operator()(const Parts&... parts) {
    (one(parts), ...);
  }
  std::uint64_t value = 0;

 private:
  void one(std::uint64_t part) { value = mix_hash(value, part); }
  void one(int part) { one(static_cast<std::uint64_t>(part)); }
  void one(bool part) { one(std::uint64_t{part}); }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void one(Enum part) { one(static_cast<std::uint64_t>(part)); }
  void one(const index::Expr& part) { one(part.hash()); }
  void one(const ops::Number& part) { one(part.hash()); }
  void one(const index::Condition& part) {
    for (const index::Less& less : part.all) operator()(less.a, less.b);
  }
  template <class Part>
  void one(const std::vector<Part>& part) {
    one(std::uint64_t{part.size()});
    for (const Part& item : part) one(item);
  }
  void one(const Content& part) { one(part->bytes.hash()); }
};

void hash_kind(Hasher& hash, const Input& input) { hash(input.slot); }
void hash_kind(Hasher& hash, const Constant& constant) {
  std::visit([&](const auto& value) { hash(value); }, constant.value);
  hash(constant.dtype, constant.shape);
}
void hash_kind(Hasher& hash, const Size& size) { hash(size.value, size.dtype); }
void hash_kind(Hasher& hash, const Pointwise& pointwise) { hash(pointwise.op); }
void hash_kind(Hasher& hash, const Cast& cast) { hash(cast.to, cast.implicit); }
void hash_kind(Hasher& hash, const View& view) { hash(view.sizes, view.source, view.inside, view.fill); }
void hash_kind(Hasher& hash, const Concat& concat) { hash(concat.axis); }
void hash_kind(Hasher& hash, const Iota& iota) { hash(iota.axis, iota.dtype, iota.shape); }
void hash_kind(Hasher& hash, const Random& random) { hash(random.number); }
void hash_kind(Hasher& hash, const Reduce& reduce) { hash(reduce.monoid, reduce.axes, reduce.component); }
void hash_kind(Hasher& hash, const Scan& scan) {
  hash(scan.monoid, scan.axis, scan.component, scan.backwards);
}
void hash_kind(Hasher& hash, const Sort& sort) { hash(sort.axis, sort.low, sort.bits); }
void hash_kind(Hasher& hash, const Gather& gather) { hash(gather.sizes, gather.source, gather.bounds); }
void hash_kind(Hasher& hash, const Scatter& scatter) {
  hash(scatter.mode, scatter.place, scatter.bounds, scatter.is_permutation);
}
void hash_kind(Hasher& hash, const Realize& realize) { hash(realize.any_order); }

std::string kind_words(const Input&) { return "input"; }
std::string kind_words(const Constant&) { return "constant"; }
std::string kind_words(const Size&) { return "size"; }
std::string kind_words(const Pointwise& pointwise) { return std::string(ops::name(pointwise.op)); }
std::string kind_words(const Cast& cast) { return cat("cast to ", ops::name(cast.to)); }
std::string kind_words(const View&) { return "view"; }
std::string kind_words(const Concat&) { return "concat"; }
std::string kind_words(const Iota&) { return "iota"; }
std::string kind_words(const Random& random) { return cat("random ", name(random.kind)); }
std::string kind_words(const Reduce& reduce) { return cat("reduce ", ops::name(reduce.monoid)); }
std::string kind_words(const Scan& scan) { return cat("scan ", ops::name(scan.monoid)); }
std::string kind_words(const Sort&) { return "sort"; }
std::string kind_words(const Gather&) { return "gather"; }
std::string kind_words(const Scatter& scatter) { return cat("scatter ", name(scatter.mode)); }
std::string kind_words(const Realize&) { return "realize"; }

constexpr std::array<std::string_view, 5> MODES{"replace", "add", "multiply", "least", "greatest"};
constexpr std::array<std::string_view, 3> DISTRIBUTIONS{"uniform", "normal", "integers"};

template <class Enum, class Names>
std::optional<Enum> position_of(std::string_view name, const Names& names) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

}  // namespace

Op canonical(Op op, ops::DType element) {
  std::visit([&](auto& kind) { make_canonical(kind, element); }, op);
  return op;
}

std::uint64_t hash_of(const Op& op, std::span<const NodeId> inputs) {
  Hasher hash;
  hash(std::uint64_t{op.index()});
  std::visit([&](const auto& kind) { hash_kind(hash, kind); }, op);
  for (const NodeId input : inputs) hash(std::uint64_t{input.index});
  return hash.value;
}

std::string_view name(Mode mode) { return MODES[static_cast<std::size_t>(mode)]; }
std::string_view name(Distribution distribution) {
  return DISTRIBUTIONS[static_cast<std::size_t>(distribution)];
}
std::optional<Mode> mode_named(std::string_view name) { return position_of<Mode>(name, MODES); }
std::optional<Distribution> distribution_named(std::string_view name) {
  return position_of<Distribution>(name, DISTRIBUTIONS);
}

std::string kind_name(const Op& op) {
  return std::visit([](const auto& kind) { return kind_words(kind); }, op);
}

std::string print(const Subject& subject) {
  const Origin& origin = subject.origin;
  std::string words = kind_name(subject.op);
  if (!origin.name.empty()) words += cat(" '", escaped(origin.name), "'");
  if (!origin.composite.empty()) words += cat(" of ", origin.composite);
  if (!origin.file.empty()) words += cat(" (", escaped(origin.file), ":", origin.line, ")");
  return words;
}

std::string print_shape(const Shape& shape) {
  return cat("[", join(shape, ", ", [](const index::Expr& size) { return index::print(size); }), "]");
}

}  // namespace twinloom::graph
