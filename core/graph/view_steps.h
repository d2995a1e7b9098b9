// How a view walks what it reads: dimension by dimension in steps, or out of step, as channels that change
// places are read. What lies between such a view and its input can be told apart as a compact view of its
// own.
#pragma once

#include <optional>
#include <vector>

#include "core/graph/views.h"
#include "core/index/facts.h"

namespace twinloom::graph {

using Dimensions = std::vector<std::size_t>;

class ViewSteps {
 public:
  // `source` is the shape that the view reads, and both must stay as they are.
  ViewSteps(const View& view, const Shape& source, index::Facts facts);

  // The dimensions that are in steps in no order of memory, those together that the same axes walk.
  std::vector<Dimensions> out_of_step() const;

  // Where an axis walks several dimensions: the order of memory in which they are in steps, those that outer
  // axes walk first. Nothing where none does, or no order is one.
  std::optional<Dimensions> flattened_order() const;

  // The view as one of a compact one, which is put into `inner` and has an axis for each of the other
  // dimensions and for each walk of the given ones: what is divided there, what the conditions bound, and the
  // view's own axes that are left. Nothing where these walks do not tell what is read.
  std::optional<View> around(const std::vector<Dimensions>& given, View& inner) const;

 private:
  struct Range {
    index::Expr least, most;
  };
  struct Walks;

  bool is_axis(index::Symbol symbol) const;
  bool has_axis(const index::Expr& expr) const;
  bool is_in_steps(const index::Expr& expr) const;
  std::vector<Dimensions> curved() const;
  bool share_axis(std::size_t d, std::size_t e) const;
  std::optional<Dimensions> in_steps(Dimensions together) const;
  void add_divided(const index::Expr& expr, std::vector<index::Expr>& walks) const;
  std::vector<index::Expr> bounded() const;
  Range range_of(const index::Expr& walked) const;
  std::optional<index::Symbol> walked_by_one(const index::Expr& walked) const;
  bool add_axes(const Dimensions& together, View& inner, View& outer) const;

  const View& view_;
  const Shape& source_;
  index::Facts facts_;
};

}  // namespace twinloom::graph
