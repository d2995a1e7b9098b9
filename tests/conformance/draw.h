// What recipes draw from: the pool of values, sizes, shapes, types and inputs of the graph that is made.
#pragma once

#include <functional>
#include <optional>

#include "tests/conformance/generate.h"
#include "tests/conformance/random.h"

namespace twinloom::tests {

// A value and the features of all that it is made of.
struct Drawn {
  graph::Tensor tensor;
  Features features;
  bool used = false;
};

// Thrown by a recipe that finds nothing in the pool to work on. What the builder refuses is an Error and
// fails the test: a recipe asks for valid nodes only.
struct Inapplicable {
  std::string_view why;
};

class Draw {
 public:
  explicit Draw(const Plan& plan);

  Random random;
  graph::Builder builder;

  // A value of the pool that is wanted, sooner one that nothing has used.
  std::optional<Drawn> find(const std::function<bool(const graph::Tensor&)>& wanted);
  // The same; Inapplicable where there is none.
  Drawn pick(const std::function<bool(const graph::Tensor&)>& wanted);
  Drawn pick() {
    return pick([](const graph::Tensor&) { return true; });
  }
  Drawn pick_real();     // floating
  Drawn pick_integer();  // cast where there is none
  // To reduce, scan or scatter along: half of the time an input with a long axis, else of the pool.
  struct Line {
    Drawn value;
    std::vector<int> axes;  // neighbours, ascending; the long ones
  };
  Line line(bool one_axis, const std::function<bool(ops::DType)>& wanted);

  std::int64_t small_size();
  std::int64_t long_size();
  graph::Shape shape();
  ops::DType dtype();
  ops::DType real_dtype();
  Drawn input(ops::DType dtype, graph::Shape shape);
  // Places below `bound`, which is above 0 for all sizes or the shape has no elements.
  Drawn indices(graph::Shape shape, const index::Expr& bound, bool wrapping);

  // A unary function of it, from the rows that keep numbers moderate.
  Drawn calmed(const Drawn& value);
  Drawn cast_to(const Drawn& value, ops::DType dtype);

  // The smallest and largest value over all sizes that the graph runs with.
  std::int64_t smallest(const index::Expr& expr) const;
  std::int64_t largest(const index::Expr& expr) const;
  std::int64_t count(const graph::Shape& shape) const;  // the largest
  bool holds(const index::Condition& condition) const;  // for all sizes

  // Keeps what the recipe makes, or nothing, and says false, where it is inapplicable or too much work.
  bool attempt(const std::function<std::vector<Drawn>(Draw&)>& recipe);
  Generated finish();
  bool large() const { return large_; }
  bool is_empty() const { return pool_.empty(); }

 private:
  void check_made(std::size_t first_node, const std::vector<Drawn>& made) const;
  void keep(Drawn value);
  void mark_used(std::size_t first_node);
  std::int64_t shrunk(std::int64_t size) const;
  Layout layout(const graph::Shape& shape);

  Plan plan_;
  std::vector<Drawn> pool_;
  std::vector<InputPlan> inputs_;
  std::vector<index::Values> sizes_;
  int attempts_ = 0, skipped_ = 0;
  bool large_ = false, zeros_ = false;
};

// `value` with the features of what it was made of, and some of its own.
Drawn with(const graph::Tensor& tensor, std::initializer_list<const Drawn*> from,
           std::initializer_list<Feature> own = {});
Feature feature_named(std::string_view name);

}  // namespace twinloom::tests
