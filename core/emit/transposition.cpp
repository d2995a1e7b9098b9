// See transposition.h.
#include "core/emit/transposition.h"

namespace twinloom::emit {

namespace {

// The place of an element whose neighbours along `near` are neighbours in memory, those along `far` a stride
// apart.
struct Place {
  index::Expr start, stride;
};
std::optional<Place> place_of(const index::Expr& offset, loops::Axis near, loops::Axis far) {
  const auto along = index::linear_in(offset, near);
  if (!along || along->scale != index::Expr(1)) return std::nullopt;
  const auto across = index::linear_in(along->rest, far);
  if (!across) return std::nullopt;
  return Place{across->rest, across->scale};
}

}  // namespace

std::optional<Transposition> transposition_of(const loops::Loop& loop, const index::Substitution& known) {
  const auto* vector = std::get_if<loops::Loop>(&loop.body->node);
  if (loop.bind != loops::Bind::unroll || vector == nullptr || vector->bind != loops::Bind::vector)
    return std::nullopt;
  const auto rows = index::constant_of(loop.extent), lanes = index::constant_of(vector->extent);
  const auto* store = std::get_if<loops::Store>(&vector->body->node);
  const auto* load = store == nullptr ? nullptr : std::get_if<loops::Load>(&store->value->node);
  if (!rows || rows != lanes || load == nullptr || load->buffer == store->buffer) return std::nullopt;
  if (store->update != loops::Update::replace || !store->mask.all.empty() || !load->mask.all.empty())
    return std::nullopt;
  const auto to = place_of(index::substitute(store->offset, known), vector->axis, loop.axis);
  const auto from = place_of(index::substitute(load->offset, known), loop.axis, vector->axis);
  if (!to || !from) return std::nullopt;
  return Transposition{store->buffer, load->buffer,           to->start, to->stride, from->start,
                       from->stride,  static_cast<int>(*rows)};
}

}  // namespace twinloom::emit
