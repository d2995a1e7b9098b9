// See totals.h. Start, Merge, Push and Fold; combining of copies is in combine.cpp and prefix.cpp.
#include "core/emit/totals.h"

#include <algorithm>
#include <bit>
#include <set>

#include "core/base/error.h"
#include "core/emit/spelling.h"
#include "core/loops/rewrite.h"
#include "core/ops/monoid.h"

namespace twinloom::emit {

namespace {

std::int64_t constant_extent(const index::Expr& extent) {
  const auto constant = index::constant_of(extent);
  CHECK(constant.has_value(), "copies along a loop of extent ", extent);
  return *constant;
}

std::int64_t members_of(const std::vector<Total::Copies>& all) {
  std::int64_t count = 1;
  for (const Total::Copies& copies : all) count *= copies.extent;
  return count;
}

}  // namespace

Totals::Totals(const loops::Program& program, const Threads& threads, Scopes& scopes, Indices& indices,
               Values& values, const Vectors& vectors, const Dialect& dialect)
    : threads_(threads),
      scopes_(scopes),
      indices_(indices),
      values_(values),
      vectors_(vectors),
      dialect_(dialect) {
  std::set<loops::Temp> combined;
  loops::for_each_stmt(*program.body, [&](const loops::Stmt& stmt) {
    if (const auto* loop = std::get_if<loops::Loop>(&stmt.node)) {
      order_.emplace(loop->axis, order_.size());
      loops_.emplace(loop->axis, *loop);
    }
    if (const auto* combine = std::get_if<loops::Combine>(&stmt.node)) combined.insert(combine->total);
    if (const auto* merge = std::get_if<loops::Merge>(&stmt.node); merge && !combined.contains(merge->total))
      ++merges_[merge->total];
  });
}

Totals::Parts Totals::members(const Total& total, const Places& places, const std::string& slot) {
  Parts parts;
  for (int part = 0; part < part_count(total); ++part)
    parts.push_back(values_.member(total, part, places, slot));
  return parts;
}

void Totals::combine_into(const Total& total, const Parts& target, const Parts& left, const Parts& right,
                          int lanes, const std::string& mask) {
  const std::string_view combine = spelling(total.monoid, total.element);
  if (part_count(total) == 1) {
    std::string text = values_.spelled(combine, {left[0], right[0]});
    if (!mask.empty()) text = cat("where(", mask, ", ", text, ", ", target[0], ")");
    scopes_.line(vectors_.assignment(target[0], text, lanes));
    return;
  }
  std::string function(combine);
  if (total.rises) function.insert(function.find('('), "_after");
  std::string replaces = values_.spelled(function, {left[0], left[1], right[0], right[1]});
  if (!mask.empty()) replaces += cat(" & ", mask);
  const std::string name = vectors_.variable(scopes_.fresh("m"), lanes);
  scopes_.line(vectors_.definition(ops::DType::b8, name, replaces, lanes));
  for (std::size_t part = 0; part < 2; ++part)
    scopes_.line(vectors_.assignment(target[part],
                                     cat("where(", name, ", ", right[part], ", ", left[part], ")"), lanes));
}

void Totals::add_product(const Total& total, const std::string& target, const Parts& factors,
                         const std::string& mask) {
  std::string text =
      values_.spelled(spelling(ops::Pointwise::fma, total.element), {factors[0], factors[1], target});
  if (!mask.empty()) text = cat("where(", mask, ", ", text, ", ", target, ")");
  assign(total, target, text);
}

void Totals::define_combined(const Total& total, const Parts& target, const Parts& left, const Parts& right,
                             int lanes) {
  if (part_count(total) == 1) {
    const std::string text = values_.spelled(spelling(total.monoid, total.element), {left[0], right[0]});
    scopes_.line(vectors_.definition(part_type(total, 0), target[0], text, lanes));
    return;
  }
  for (int part = 0; part < part_count(total); ++part)
    scopes_.line(vectors_.declaration(part_type(total, part), target[static_cast<std::size_t>(part)], lanes));
  combine_into(total, target, left, right, lanes);
}

void Totals::declare(const Total& total, int level) {
  const std::int64_t count = std::max(total.depth, 1) * members_of(total.copies);
  for (int part = 0; part < part_count(total); ++part) {
    const ops::DType dtype = part_type(total, part);
    const std::string& name = total.names[static_cast<std::size_t>(part)];
    const std::string variable = vectors_.variable(name, total.lanes);
    if (!total.is_array()) {
      scopes_.line_at(level, vectors_.declaration(dtype, variable, total.lanes));
    } else if (total.has_places() || !vectors_.apart(total.lanes)) {
      scopes_.line_at(level, dialect_.array(dialect_.type(dtype, total.lanes), name, cat(count),
                                            loops::Place::registers));
    } else {
      for (int lane = 0; lane < total.lanes; ++lane)
        scopes_.line_at(level, dialect_.array(dialect_.type(dtype, 1), of_lane(variable, lane), cat(count),
                                              loops::Place::registers));
    }
  }
}

void Totals::fill_with_identity(const Total& total) {
  const auto identity = ops::identity(total.monoid, total.element);
  Parts texts;
  for (int part = 0; part < part_count(total); ++part)
    texts.push_back(
        values_.literal(identity[static_cast<std::size_t>(part)], part_type(total, part), total.lanes));
  for_each_member(total, std::nullopt, [&](const Places& places) {
    const Parts targets = members(total, places);
    for (std::size_t part = 0; part < targets.size(); ++part) assign(total, targets[part], texts[part]);
  });
}

void Totals::start(const loops::Start& start) {
  Total total{.monoid = start.monoid,
              .element = start.element,
              .depth = start.depth,
              .lanes = indices_.lanes(),
              .across = {},
              .copies = {},
              .of_threads = {},
              .in_memory = false,
              .names = {},
              .level = scopes_.level()};
  total.free = start.free;
  CHECK(start.depth <= 62, "a stack of depth ", start.depth);
  for (const loops::Axis axis : start.copies) {
    const auto found = loops_.find(axis);
    CHECK(found != loops_.end(), "copies along ", axis, ", which is no loop");
    CHECK(found->second.bind != loops::Bind::block, "copies along the block loop ", axis);
    const std::int64_t extent = constant_extent(found->second.extent);
    if (found->second.bind == loops::Bind::thread) {
      total.of_threads.push_back({axis, extent});
      continue;
    }
    if (found->second.bind != loops::Bind::vector) {
      total.copies.push_back({axis, extent});
      total.in_memory |= found->second.bind != loops::Bind::unroll;
      continue;
    }
    CHECK(total.lanes == 1, "copies along the vector loop ", axis, " of a total that is a vector already");
    total.across = axis;
    total.lanes = static_cast<int>(extent);
  }
  const int number = scopes_.next_number();
  for (int part = 0; part < ops::parts(start.monoid); ++part)
    total.names.push_back(cat("t", number, part == 0 ? "" : "_place"));
  declare(total, scopes_.level());
  if (total.depth == 0) fill_with_identity(total);
  values_.set_total(start.total, std::move(total));
}

std::vector<Total::Copies> Totals::walked(const Total& total, std::optional<loops::Axis> without) const {
  std::vector<Total::Copies> walked;
  for (const Total::Copies& copies : total.copies)
    if (!copies.combined && copies.axis != without && !indices_.is_active(copies.axis))
      walked.push_back(copies);
  return walked;
}

bool Totals::walks_by_loops(const Total& total) const {
  return members_of(walked(total, std::nullopt)) > written_out(total);
}

void Totals::for_each_member(const Total& total, std::optional<loops::Axis> without,
                             const std::function<void(const Places&)>& body) {
  const std::vector<Total::Copies> walked = this->walked(total, without);
  const std::int64_t count = members_of(walked);
  if (count > written_out(total)) {
    Places places;
    for (const Total::Copies& copies : walked) places[copies.axis] = scopes_.fresh("k");
    for (std::size_t depth = 0; depth < walked.size(); ++depth) scopes_.open();
    body(places);
    for (auto copies = walked.rbegin(); copies != walked.rend(); ++copies) {
      const std::string& name = places[copies->axis];
      scopes_.close(cat("for (i64 ", name, " = 0; ", name, " < ", copies->extent, "; ++", name, ") {"), "}");
    }
    return;
  }
  for (std::int64_t at = 0; at < count; ++at) {
    Places places;
    std::int64_t rest = at;
    for (auto copies = walked.rbegin(); copies != walked.rend(); ++copies) {
      places[copies->axis] = cat(rest % copies->extent);
      rest /= copies->extent;
    }
    body(places);
  }
}

// Whether every element that one member of the accumulator takes comes after those before: the loops around,
// but those along which there are copies, count up its place.
bool Totals::rises(const Total& total, const loops::Merge& merge) const {
  const bool is_first_found = total.monoid == ops::Monoid::argmax || total.monoid == ops::Monoid::argmin;
  const auto merges = merges_.find(merge.total);
  if (!is_first_found || !dialect_.has_threads() || merges == merges_.end() || merges->second > 1)
    return false;
  const auto* place = std::get_if<loops::Count>(&merge.values[1]->node);
  if (place == nullptr) return false;
  const auto is_copied = [&](const loops::Axis& axis) {
    const auto is_along = [&](const Total::Copies& copies) { return copies.axis == axis; };
    return total.across == axis || std::ranges::any_of(total.copies, is_along) ||
           std::ranges::any_of(total.of_threads, is_along);
  };
  std::map<std::size_t, loops::Loop, std::greater<>> inside_out;
  for (const index::Symbol& symbol : index::symbols_of(place->expr)) {
    const auto loop = loops_.find(symbol);
    if (loop == loops_.end()) return false;
    if (!is_copied(symbol)) inside_out.emplace(order_.at(symbol), loop->second);
  }
  std::optional<std::int64_t> below = 0;  // what the loops inside come to at most
  for (const auto& [number, loop] : inside_out) {
    const auto linear = index::linear_in(place->expr, loop.axis);
    const auto stride = linear ? index::constant_of(linear->scale) : std::nullopt;
    if (!stride || !below || *stride <= *below) return false;
    const auto extent = index::constant_of(loop.extent);
    below = extent ? std::optional(*below + *stride * (*extent - 1)) : std::nullopt;
  }
  return true;
}

void Totals::merge(const loops::Merge& merge) {
  Total total = values_.total(merge.total);
  total.rises = rises(total, merge);
  Parts given;
  for (const auto& value : merge.values)
    given.push_back(values_.with_lanes(values_.value(*value), total.lanes));
  const Mask mask = indices_.mask(merge.mask);
  const Parts target = members(total, {});
  const auto add = [&](const std::string& lanes) {
    if (merge.product)
      add_product(total, target.front(), given, lanes);
    else
      combine_into(total, target, target, given, total.lanes, lanes);
  };
  if (mask.kind == Mask::Kind::always) {
    add({});
  } else if (indices_.compares_shortly() && mask.kind == Mask::Kind::uniform && total.lanes == 1 &&
             given.size() == 1 && !merge.product) {
    // No branch, which loads of later iterations would not pass: a thread waited for each element of a scan.
    const ops::Number nothing = ops::identity(total.monoid, total.element)[0];
    given[0] =
        cat("(", mask.text, " ? ", given[0], " : ", values_.literal(nothing, part_type(total, 0), 1), ")");
    add({});
  } else if (total.lanes == 1 || mask.kind == Mask::Kind::uniform) {
    const std::string condition = indices_.as_bool(mask);
    scopes_.open();
    add({});
    scopes_.close(cat("if (", condition, ") {"), "}");
  } else {
    add(indices_.as_lanes(mask));
  }
  scopes_.forget({.buffer = {}, .total = merge.total});
}

// Combines what waits in the places of the low bits of `number` that are set; gives the place above them.
Totals::Parts Totals::carry(const Total& stack, const Parts& carried, const index::Expr& number) {
  if (const auto known = index::constant_of(indices_.here(number))) {
    const int waiting = std::countr_one(static_cast<std::uint64_t>(*known));
    for (int slot = 0; slot < waiting; ++slot)
      combine_into(stack, carried, members(stack, {}, cat(slot)), carried, stack.lanes);
    return members(stack, {}, cat(waiting));
  }
  const std::string count = indices_.name(number);
  const std::string slot = scopes_.fresh("k");
  scopes_.line(cat("i64 ", slot, " = 0;"));
  const Parts place = members(stack, {}, slot);
  scopes_.open();
  combine_into(stack, carried, place, carried, stack.lanes);
  scopes_.close(cat("for (; (", count, " >> ", slot, " & 1) != 0; ++", slot, ") {"), "}");
  return place;
}

// The carries of a binary counter; `number` has as many low bits set as units wait to be combined.
void Totals::push(const loops::Push& push) {
  const Total& stack = values_.total(push.stack);
  const Total& unit = values_.total(push.unit);
  CHECK(stack.depth > 0 && stack.lanes == unit.lanes, "a push of ", unit.lanes, " lanes onto a stack of ",
        stack.lanes);
  const Mask mask = indices_.mask(push.mask);
  const std::string condition = indices_.as_bool(mask);  // lanes push together: a fold has one count for all
  const Parts source = members(unit, {});
  scopes_.open();
  Parts carried;
  for (std::size_t part = 0; part < source.size(); ++part) {
    carried.push_back(vectors_.variable(scopes_.fresh("t"), stack.lanes));
    scopes_.line(vectors_.definition(part_type(stack, static_cast<int>(part)), carried[part], source[part],
                                     stack.lanes, false));
  }
  const Parts place = carry(stack, carried, push.number);
  for (std::size_t part = 0; part < place.size(); ++part) assign(stack, place[part], carried[part]);
  scopes_.close(mask.kind == Mask::Kind::always ? "{" : cat("if (", condition, ") {"), "}");
  scopes_.forget({.buffer = {}, .total = push.stack});
}

void Totals::fold(const loops::Fold& fold) {
  const Total& stack = values_.total(fold.stack);
  const auto identity = ops::identity(stack.monoid, stack.element);
  const auto nothing = ops::over_nothing(stack.monoid, stack.element);
  std::vector<Operand> result;
  Parts names;
  for (int part = 0; part < part_count(stack); ++part) {
    const ops::DType dtype = part_type(stack, part);
    const ops::Number empty = part == 0 && nothing ? *nothing : identity[static_cast<std::size_t>(part)];
    names.push_back(vectors_.variable(scopes_.fresh("t"), stack.lanes));
    result.push_back({names.back(), dtype, stack.lanes});
    scopes_.line(vectors_.definition(dtype, names.back(), values_.literal(empty, dtype, stack.lanes),
                                     stack.lanes, false));
  }
  fold_into(stack, names, fold.count);
  values_.set_temp(fold.result, std::move(result));
}

// What waits in the places of the bits of `number` that are set, from the lowest on.
void Totals::fold_into(const Total& stack, const Parts& names, const index::Expr& number) {
  if (const auto known = index::constant_of(indices_.here(number))) {
    bool is_first = true;
    for (int slot = 0; slot < 63; ++slot) {
      if ((*known >> slot & 1) == 0) continue;
      const Parts place = members(stack, {}, cat(slot));
      for (std::size_t part = 0; is_first && part < names.size(); ++part)
        assign(stack, names[part], place[part]);
      if (!is_first) combine_into(stack, names, place, names, stack.lanes);
      is_first = false;
    }
    return;
  }
  const std::string count = indices_.name(number);
  const std::string slot = scopes_.fresh("k");
  const Parts place = members(stack, {}, slot);
  scopes_.open();
  scopes_.line(cat("i64 ", slot, " = trailing_zeros(", count, ");"));
  for (std::size_t part = 0; part < names.size(); ++part) assign(stack, names[part], place[part]);
  scopes_.open();
  scopes_.open();
  combine_into(stack, names, place, names, stack.lanes);
  scopes_.close(cat("if ((", count, " >> ", slot, " & 1) != 0) {"), "}");
  scopes_.close(cat("for (++", slot, "; ", count, " >> ", slot, " != 0; ++", slot, ") {"), "}");
  scopes_.close(cat("if (", count, " != 0) {"), "}");
}

}  // namespace twinloom::emit
