// Index expressions as text. Parts that do not depend on the inner loops are given a name outside of them,
// so an inner loop computes only what its own counter changes:
//   4096*i + 8*k + 3   in the loop over k   ->   p1 = a0 + 4096 * i outside,   p1 + 8 * k + 3 inside
// In a vector loop an expression is uniform (it does not depend on the axis), linear in it, or general.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/emit/dialect.h"
#include "core/emit/scopes.h"
#include "core/emit/vectors.h"
#include "core/index/facts.h"
#include "core/loops/loops.h"

namespace twinloom::emit {

// Where a symbol comes from.
struct Bound {
  std::string name;
  int level = 0;         // of the scope that defines it
  bool varying = false;  // one value a lane
  std::string ok;        // of an Index: where it succeeded; empty: everywhere
};

// A pointer that offsets are added to, and the scope that defines it.
struct Base {
  std::string name;
  int level = 0;
};

struct VectorAxis {
  loops::Axis axis;
  int lanes = 1;
};

// Which lanes take part.
struct Mask {
  enum class Kind {
    always,
    uniform,  // text: a bool for all lanes
    first,    // text: an i64, the number of lanes from lane 0 that take part
    lanes,    // text: a mask, a value of all lanes
  };
  Kind kind = Kind::always;
  std::string text;
  std::int64_t least = 0, most = INT64_MAX;  // of `first`, as far as is known
};

// How an offset runs along the vector axis: rest + stride * lane, or a vector of places.
struct Along {
  enum class Kind { uniform, linear, general };
  Kind kind = Kind::uniform;
  index::Expr stride, rest;
};

// The sides of a comparison in 32 bits that says what one of a and b does: what is a lane's, and what is all
// lanes'.
//   8*k + 3 + lane, x  ->  lane, i32(x - 8*k - 3)
struct ShortSides {
  std::string lane, all;
};

// Lanes in parts of neighbours, each part so many elements behind the one before: one part after the other,
// or a lane of each in turn.
struct Parts {
  index::Expr first;
  std::int64_t apart = 0;
  int count = 0;
  bool in_turn = false;
};

class Indices {
 public:
  // `facts` are of all symbols that are bound, as long as they are.
  Indices(Scopes& scopes, Vectors& vectors, const Dialect& dialect, const index::Facts& facts)
      : scopes_(scopes), vectors_(vectors), dialect_(dialect), facts_(facts) {}

  void bind(index::Symbol symbol, Bound bound) { bounds_[symbol] = std::move(bound); }
  void unbind(index::Symbol symbol) { bounds_.erase(symbol); }
  void set_constant(index::Symbol symbol, std::int64_t value) { constants_.insert_or_assign(symbol, value); }
  const index::Substitution& constants() const { return constants_; }
  void clear_constant(index::Symbol symbol) { constants_.erase(symbol); }
  // Whether masks are compared in 32 bits where both sides fit: one instruction of a GPU in place of two. Not
  // where threads combine accumulators: the loads under such a mask are branches then, and wait for each other
  // (a sum of 25,600 elements 7.9 us on an H100, not 6.9).
  void compare_shortly(bool shortly) { compares_shortly_ = shortly; }
  bool compares_shortly() const { return compares_shortly_; }
  void set_vector(std::optional<VectorAxis> vector) { vector_ = vector; }
  const std::optional<VectorAxis>& vector() const { return vector_; }
  int lanes() const { return vector_ ? vector_->lanes : 1; }
  // Whether a loop over the axis encloses what is being written.
  bool is_active(index::Symbol axis) const;

  // The innermost scope that defines one of its symbols.
  int level_of(const index::Expr& expr) const;
  // The expression with the counters of unrolled loops put in.
  index::Expr here(const index::Expr& expr) const;
  Along along(const index::Expr& expr) const;
  // The places of lanes that lie in parts, where they are constants but for the first one.
  std::optional<Parts> parts(const index::Expr& expr) const;
  // Whether it is known to be a multiple, wherever the loops around are.
  bool is_multiple(const index::Expr& expr, std::int64_t of) const;

  // Text of a uniform expression: for use as an argument; and a name or a number.
  std::string text(const index::Expr& expr);
  std::string name(const index::Expr& expr);
  // Text of any expression as a value of all lanes, of i64; as an argument of a function that takes a vector.
  std::string lanes_text(const index::Expr& expr);
  std::string lanes_argument(const index::Expr& expr);
  // Nothing unless each lane is a fixed distance from its neighbour, and 32 bits hold all.
  std::optional<ShortSides> short_sides(const index::Expr& a, const index::Expr& b);
  // The first lane of lanes that are neighbours; nothing of others, and where it is no multiple of `of`.
  std::optional<std::string> first_of_neighbours(const index::Expr& expr, std::int64_t of);
  // The lower 32 bits of any expression as a value of all lanes, of i32. Nothing unless registers hold lanes
  // that are apart by one number; `all` asks that 32 bits hold them.
  std::optional<std::string> short_lanes_text(const index::Expr& expr, bool all);
  // Which function divides, "div" or "mod": one of 32 bits where the dividend and the divisor are proven to
  // be below 2^31.
  std::string quotient(const char* kind, const index::Expr& dividend, const index::Expr& divisor) const;
  // `base` plus a uniform offset, as a pointer: hoisted, then "p1 + 8".
  std::string pointer(const Base& base, const index::Expr& offset);

  Mask mask(const index::Condition& condition) { return mask(condition, {}); }
  // Also false for lanes where an Index whose symbol `mentioned` names has failed.
  Mask mask(const index::Condition& condition, const std::set<index::Symbol>& mentioned);
  // The mask in the forms that its users need. A bool exists of uniform masks only.
  std::string as_bool(const Mask& mask);
  std::string as_count(const Mask& mask);
  std::string as_lanes(const Mask& mask);
  std::string as_argument(const Mask& mask);  // of lanes, for a function that takes a vector
  std::string any(const Mask& mask);  // whether one lane takes part

 private:
  struct Conjuncts {
    std::vector<std::string> uniform, counts, lanes;
    std::int64_t least = INT64_MAX, most = INT64_MAX;  // that all counts let take part
  };
  const Bound& bound(index::Symbol symbol) const;
  bool varies(const index::Expr& expr) const;
  // The text as it stands in the scope `level`; parts that outer scopes know are named there.
  std::string text_at(const index::Expr& expr, int level);
  std::string sum_text(const index::Sum& sum, int level);
  std::string product_text(const index::Product& product, int level);
  index::Expr apart(const index::Expr& offset) const;
  std::string pointer_at(const Base& base, const index::Expr& offset, int level);
  bool is_short(const index::Expr& expr) const;  // whether 32 bits hold it
  bool are_short(const Along& run) const;        // all lanes
  std::string less_text(const index::Expr& a, const index::Expr& b, int level);
  void add_conjunct(const index::Less& less, Conjuncts& conjuncts);
  Mask joined(const Conjuncts& conjuncts);
  std::string named_mask(int level, int lanes, const std::string& text, Written written = Written::a_lane) {
    return vectors_.named(level, "m", ops::DType::b8, lanes, text, written);
  }

  Scopes& scopes_;
  Vectors& vectors_;
  const Dialect& dialect_;
  const index::Facts& facts_;
  std::map<index::Symbol, Bound> bounds_;
  index::Substitution constants_;
  std::optional<VectorAxis> vector_;
  bool compares_shortly_ = false;
};

std::string integer_text(std::int64_t value);

}  // namespace twinloom::emit
