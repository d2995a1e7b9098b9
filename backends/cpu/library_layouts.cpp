// See library_layouts.h.
#include "backends/cpu/library_layouts.h"

#include <algorithm>
#include <numeric>

#include "core/loops/library_nest.h"

namespace twinloom::cpu {

namespace {

using loops::Contraction, loops::known;

// Axes that are none of the nest have no step in the operands of its epilogue.
index::Expr step_in_operand(const Contraction::Axis& axis, std::size_t number) {
  return number < axis.operands.size() ? axis.operands[number] : index::Expr(0);
}

// Of two axes as one dimension, groups outside; false where they are no one.
bool add_grouped(Layout& layout, const Contraction::Axis& groups, const index::Expr& outer_step,
                 const Contraction::Axis& each, const index::Expr& inner_step) {
  const std::int64_t count = known(groups.extent), extent = known(each.extent), outer = known(outer_step),
                     inner = known(inner_step);
  if (count > 1 && extent > 1 && outer != inner * extent) return false;
  layout.add(count * extent, extent > 1 ? inner : outer);
  return true;
}

void settle(Layouts& layouts) {
  for (Layout* layout : {&layouts.out, &layouts.left, &layouts.right}) layout->settle();
  for (Layout& layout : layouts.operands) layout.broadcast();
}

}  // namespace

void Layout::settle() {
  std::int64_t most = 1;
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (dims[d] > 1) most = std::max(most, dims[d] * strides[d]);
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (dims[d] == 1) strides[d] = most;
}

void Layout::broadcast() {
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (strides[d] == 0) dims[d] = 1;
  settle();
}

bool Layout::is_plain() const {
  std::vector<std::size_t> order(dims.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t d) { return strides[d]; });
  std::int64_t walked = 1;
  for (const std::size_t d : order) {
    if (dims[d] == 1) continue;
    if (strides[d] < walked) return false;
    walked = strides[d] * dims[d];
  }
  return true;
}

bool Layout::has_gaps() const {
  std::int64_t last = 0, count = 1;
  for (std::size_t d = 0; d < dims.size(); ++d) last += (dims[d] - 1) * strides[d], count *= dims[d];
  return last + 1 > count;
}

Layout Layout::channels_last() const {
  Layout made{dims, std::vector<std::int64_t>(dims.size())};
  made.strides[1] = 1;
  std::int64_t walked = dims[1];
  for (std::size_t d = dims.size(); d-- > 0;) {
    if (d == 1) continue;
    made.strides[d] = walked;
    walked *= dims[d];
  }
  return made;
}

bool Layout::is_row_major() const {
  std::int64_t walked = 1;
  for (std::size_t d = dims.size(); d-- > 0; walked *= dims[d])
    if (dims[d] > 1 && strides[d] != walked) return false;
  return true;
}

bool Layouts::are_plain() const {
  return out.is_plain() && left.is_plain() && right.is_plain() &&
         std::ranges::all_of(operands, &Layout::is_plain);
}

Layouts layouts_of(const loops::MatrixProduct& of, std::size_t operands) {
  Layouts made;
  const auto add = [](Layout& layout, const index::Expr& extent, const index::Expr& step) {
    layout.add(known(extent), known(step));
  };
  for (const Contraction::Axis& axis : of.batch) {
    add(made.out, axis.extent, axis.out);
    add(made.left, axis.left == 0 ? 1 : axis.extent, axis.left);
    add(made.right, axis.right == 0 ? 1 : axis.extent, axis.right);
  }
  add(made.out, of.rows.extent, of.rows.out), add(made.out, of.columns.extent, of.columns.out);
  add(made.left, of.rows.extent, of.rows.left), add(made.left, of.depth.extent, of.depth.left);
  add(made.right, of.depth.extent, of.depth.right), add(made.right, of.columns.extent, of.columns.right);
  for (std::size_t number = 0; number < operands; ++number) {
    Layout& operand = made.operands.emplace_back();
    for (const Contraction::Axis& axis : of.batch) add(operand, axis.extent, step_in_operand(axis, number));
    for (const Contraction::Axis* axis : {&of.rows, &of.columns})
      add(operand, axis->extent, step_in_operand(*axis, number));
  }
  settle(made);
  return made;
}

std::optional<Layouts> layouts_of(const loops::Convolution& of, std::size_t operands) {
  Layouts made;
  made.out.add(known(of.batch.extent), known(of.batch.out));
  made.left.add(known(of.batch.extent), known(of.batch.left));
  if (!add_grouped(made.out, of.groups, of.groups.out, of.results, of.results.out) ||
      !add_grouped(made.left, of.groups, of.groups.left, of.inputs, of.inputs.left))
    return std::nullopt;
  made.right.add(known(of.groups.extent), known(of.groups.right));
  made.right.add(known(of.results.extent), known(of.results.right));
  made.right.add(known(of.inputs.extent), known(of.inputs.right));
  for (const loops::Convolution::Dimension& each : of.dimensions) {
    made.out.add(each.results, each.out_step);
    made.left.add(each.extent, each.step);
    made.right.add(each.taps, each.right_step);
  }
  for (std::size_t number = 0; number < operands; ++number) {
    Layout& operand = made.operands.emplace_back();
    operand.add(known(of.batch.extent), known(step_in_operand(of.batch, number)));
    if (!add_grouped(operand, of.groups, step_in_operand(of.groups, number), of.results,
                     step_in_operand(of.results, number)))
      return std::nullopt;
    for (const auto& each : of.dimensions)
      operand.add(each.results, number < each.operand_steps.size() ? each.operand_steps[number] : 0);
  }
  settle(made);
  return made;
}

}  // namespace twinloom::cpu
