// Operators as torch.export prints them where nothing has taken them apart yet: layers and what changes the
// type.
#include <array>

#include "core/graph/composites.h"
#include "core/graph/einsum.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"
#include "frontends/fx/operators.h"
#include "frontends/fx/promote.h"

namespace twinloom::fx {

namespace {

using graph::Tensor;
using graph::widened;
using index::Expr;

void check_types(const Arguments& arguments, const Tensor& a, const Tensor& b) {
  if (!ops::is_floating(a.dtype()) || a.dtype() != b.dtype())
    arguments.fail(cat("needs tensors of one floating type, given ", ops::name(a.dtype()), " and ",
                       ops::name(b.dtype())));
}

// Of 16-bit floats only the sum is rounded to their type.
Item matmul(const Arguments& arguments) {
  const Tensor a = arguments.tensor(0, "self"), b = arguments.tensor(1, "other");
  check_types(arguments, a, b);
  return {graph::cast(graph::matmul(widened(a), widened(b)), a.dtype(), true)};
}

// x weight^T + bias, rounded once.
Item linear(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "input"), weight = arguments.tensor(1, "weight");
  check_types(arguments, x, weight);
  if (weight.rank() != 2) arguments.fail(cat("needs a weight of 2 axes, given one of ", weight.rank()));
  Tensor result = graph::matmul(widened(x), graph::transpose(widened(weight), 0, 1));
  if (const auto bias = arguments.maybe_tensor(2, "bias")) {
    check_types(arguments, x, *bias);
    result = result + widened(*bias);
  }
  return {graph::cast(result, x.dtype(), true)};
}

Item einsum(const Arguments& arguments) {
  const std::vector<Tensor> operands = arguments.tensors(1, "tensors");
  for (const Tensor& operand : operands) check_types(arguments, operands.front(), operand);
  return {graph::einsum(arguments.builder(), arguments.text(0, "equation", ""), operands)};
}

Item group_norm(const Arguments& arguments) {
  return {graph::group_norm(arguments.tensor(0, "input"), arguments.maybe_tensor(2, "weight"),
                            arguments.maybe_tensor(3, "bias"), arguments.size(1, "num_groups"),
                            arguments.real(4, "eps", 1e-5))
              .value};
}
Item batch_norm(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "input");
  const auto weight = arguments.maybe_tensor(1, "weight"), bias = arguments.maybe_tensor(2, "bias"),
             mean = arguments.maybe_tensor(3, "running_mean"),
             variance = arguments.maybe_tensor(4, "running_var");
  const double epsilon = arguments.real(7, "eps");
  if (!arguments.boolean(5, "training", false)) {
    if (!mean || !variance) arguments.fail("needs 'running_mean' and 'running_var' where it does not train");
    return {graph::batch_norm(x, *mean, *variance, weight, bias, epsilon)};
  }
  if (mean || variance)
    arguments.fail("training writes 'running_mean' and 'running_var', which is not supported");
  return {graph::batch_norm_training(x, weight, bias, epsilon).value};
}

Item dropout(const Arguments& arguments) {
  const double share = arguments.real(1, "p");
  if (arguments.boolean(2, "train", true) && share != 0)
    arguments.fail(cat("'train' must be False where 'p' is ", share,
                       "; which elements PyTorch drops at random cannot be reproduced"));
  return {arguments.tensor(0, "input")};
}

template <std::size_t position>
Item to(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  return {graph::cast(x, arguments.dtype(position, "dtype").value_or(x.dtype()))};
}
Item to_other(const Arguments& arguments) {
  return {graph::cast(arguments.tensor(0, "self"), arguments.tensor(1, "other").dtype())};
}

// n times the differences of neighbours, of truths whether they differ.
Item diff(const Arguments& arguments) {
  const int axis = arguments.integer(2, "dim", -1), times = arguments.integer(1, "n", 1);
  constexpr int MOST = 64;
  if (times < 0 || times > MOST) arguments.fail(cat("'n' must lie in 0 to ", MOST, ", it is ", times));
  if (times == 0) return {arguments.tensor(0, "self")};
  std::vector<Tensor> parts;
  if (const auto before = arguments.maybe_tensor(3, "prepend")) parts.push_back(*before);
  parts.push_back(arguments.tensor(0, "self"));
  if (const auto after = arguments.maybe_tensor(4, "append")) parts.push_back(*after);
  for (const Tensor& part : parts)
    if (part.dtype() != parts.front().dtype()) arguments.fail("needs tensors of one type");
  Tensor x = parts.size() == 1 ? parts.front() : graph::concat(parts, axis);
  for (int k = 0; k < times; ++k) {
    const Expr end = x.size(axis);
    const Tensor next = graph::slice(x, axis, 1, end), previous = graph::slice(x, axis, 0, end - 1);
    x = x.dtype() == ops::DType::b8 ? graph::logical_xor(next, previous) : next - previous;
  }
  return {x};
}

constexpr std::array rows = {
    Row{"matmul", matmul},
    Row{"linear", linear},
    Row{"einsum.default", einsum},
    Row{"group_norm", group_norm},
    Row{"batch_norm", batch_norm},
    Row{"dropout", dropout, Lies::whole},
    Row{"dropout_", dropout, Lies::whole},
    Row{"to.dtype", to<1>, Lies::whole_or_copy},
    Row{"to.device", to<2>, Lies::whole_or_copy},
    Row{"to.dtype_layout", to<BY_KEYWORD>, Lies::whole_or_copy},
    Row{"to.other", to_other, Lies::whole_or_copy},
    Row{"type_as", to_other, Lies::whole_or_copy},
    Row{"diff", diff},
};

}  // namespace

std::span<const Row> layer_rows() { return rows; }

}  // namespace twinloom::fx
