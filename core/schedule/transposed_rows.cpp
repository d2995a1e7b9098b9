// See transposed_rows.h.
#include "core/schedule/transposed_rows.h"

#include <algorithm>
#include <functional>
#include <set>

#include "core/loops/rewrite.h"

namespace twinloom::schedule {

using index::Expr;
using loops::Buffer;
using loops::Loop;
using loops::Value;

namespace {

constexpr std::int64_t LEAST_ROW = 8;               // elements
constexpr std::int64_t MOST_ARRAY_BYTES = 1 << 15;  // of all arrays of one vector

// Element `base + stride*lane + place` of a buffer, with 0 <= place < count. With a limit rows follow one
// another without a gap, and what of them lies at the limit or behind it is `otherwise`.
struct Rows {
  Buffer buffer;
  Expr base;
  std::int64_t stride = 0, count = 0;
  bool stored = false;
  std::optional<Expr> limit = {};
  loops::Literal otherwise = {};

  friend bool operator==(const Rows& a, const Rows& b) {
    return a.buffer == b.buffer && a.base == b.base && a.stride == b.stride && a.count == b.count &&
           a.stored == b.stored && a.limit == b.limit &&
           loops::equal(*loops::literal(a.otherwise.value, a.otherwise.dtype),
                        *loops::literal(b.otherwise.value, b.otherwise.dtype));
  }
};
struct Kept {
  Rows rows;
  Buffer array;
};

// A vector with the loops inside it, or in the one loop around it, and what they become.
class Transposer {
 public:
  Transposer(const Loop& whole, const Loop& vector, const std::set<Buffer>& loaded, Names& names)
      : whole_(whole), vector_(vector), loaded_(loaded), names_(names) {}

  // Nothing where no rows are transposed.
  Ref<Stmt> run() {
    const auto lanes = index::constant_of(vector_.extent);
    if (!lanes || *lanes < LEAST_ROW || *lanes % LEAST_ROW != 0 || !know_loops()) return nullptr;
    lanes_ = *lanes;
    Ref<Stmt> body =
        loops::rewrite_values(whole_.body, [&](const Ref<Value>& value) { return from_array(value); });
    body = loops::rewrite_stmts(body, [&](const Ref<Stmt>& stmt) { return to_array(stmt); });
    if (kept_.empty()) return nullptr;
    std::vector<Ref<Stmt>> stmts;
    for (const Kept& kept : kept_)
      if (!kept.rows.stored) moved(kept, stmts);
    stmts.push_back(loops::stmt(Loop{whole_.axis, whole_.extent, whole_.bind, std::move(body)}));
    for (const Kept& kept : kept_)
      if (kept.rows.stored) moved(kept, stmts);
    Ref<Stmt> result = loops::block(std::move(stmts));
    for (const Buffer array : arrays_)
      result = loops::stmt(loops::Scratch{array, names_.buffers()[array.index].count, loops::Place::registers,
                                          std::move(result)});
    return result;
  }

 private:
  // The extents of the loops along rows, each of which runs: then every element of a row is touched.
  bool know_loops() {
    bool known = true;
    const Ref<Stmt> whole = loops::stmt(whole_);
    loops::for_each_stmt(*whole, [&](const Stmt& stmt) {
      if (const auto* store = std::get_if<loops::Store>(&stmt.node)) stored_.insert(store->buffer);
      const auto* loop = std::get_if<Loop>(&stmt.node);
      if (loop != nullptr && loop->axis != vector_.axis) {
        const auto extent = index::constant_of(loop->extent).value_or(0);
        const bool plain = loop->bind == loops::Bind::serial || loop->bind == loops::Bind::unroll;
        const auto [of_axis, fresh] = extents_.try_emplace(loop->axis, extent);
        known = known && plain && extent > 0 && of_axis->second == extent;
      }
      known = known && !std::holds_alternative<loops::Index>(stmt.node) &&
              !std::holds_alternative<loops::LastBlock>(stmt.node) &&
              !std::holds_alternative<loops::Call>(stmt.node);
    });
    return known;
  }

  std::optional<Rows> rows_of(Buffer buffer, const Expr& offset, bool stored) const {
    const auto along = index::linear_in(offset, vector_.axis);
    const auto stride = along ? index::constant_of(along->scale) : std::nullopt;
    if (!stride || *stride < LEAST_ROW_STRIDE) return std::nullopt;
    Expr base = along->rest;
    std::vector<std::pair<std::int64_t, std::int64_t>> digits;  // stride, extent
    for (const auto& [axis, extent] : extents_) {
      if (!index::mentions(base, axis)) continue;
      const auto linear = index::linear_in(base, axis);
      const auto step = linear ? index::constant_of(linear->scale) : std::nullopt;
      if (!step) return std::nullopt;
      if (extent > 1) digits.emplace_back(*step, extent);
      base = linear->rest;
    }
    std::ranges::sort(digits);
    std::int64_t count = 1;
    for (const auto& [step, extent] : digits) {
      if (step != count) return std::nullopt;
      count *= extent;
    }
    if (count < LEAST_ROW || count > *stride) return std::nullopt;
    return Rows{buffer, base, *stride, count, stored};
  }

  // The array that holds the rows; nothing where there is no room.
  std::optional<Buffer> array_of(const Rows& rows) {
    const auto known = std::ranges::find(kept_, rows, &Kept::rows);
    if (known != kept_.end()) return known->array;
    const loops::BufferInfo info = names_.buffers()[rows.buffer.index];
    const std::int64_t bytes = lanes_ * rows.count * ops::size_of(info.dtype);
    if (bytes_ + bytes > MOST_ARRAY_BYTES) return std::nullopt;
    bytes_ += bytes;
    const Buffer array = new_array(info, lanes_ * rows.count);
    kept_.push_back({rows, array});
    return array;
  }
  Buffer new_array(const loops::BufferInfo& like, std::int64_t count) {
    arrays_.push_back(names_.buffer({like.name + "_rows", like.dtype, count, true, true}));
    return arrays_.back();
  }
  Expr place_of(const Rows& rows, const Expr& offset) const {
    const Expr place = offset - rows.base - rows.stride * Expr(vector_.axis);
    return lanes_ * place + Expr(vector_.axis);
  }

  Ref<Value> from_array(const Ref<Value>& value) {
    const auto* load = std::get_if<loops::Load>(&value->node);
    if (load == nullptr) return value;
    const loops::BufferInfo& info = names_.buffers()[load->buffer.index];
    if ((info.written && !info.local) || stored_.contains(load->buffer)) return value;
    auto rows = rows_of(load->buffer, load->offset, false);
    if (rows) rows->otherwise = load->otherwise;
    if (rows && !load->mask.all.empty() && !limit(*rows, *load)) return value;
    const auto array = rows ? array_of(*rows) : std::nullopt;
    return array ? loops::load(*array, place_of(*rows, load->offset), {}, load->otherwise) : value;
  }

  // Whether the mask of the load only says where the last row ends.
  bool limit(Rows& rows, const loops::Load& load) const {
    if (load.mask.all.size() != 1 || rows.stride != rows.count) return false;
    const index::Less& less = load.mask.all.front();
    const Expr end = less.b - less.a + (load.offset - rows.base);
    const auto varies = [&](const auto& known) { return index::mentions(end, known.first); };
    if (index::mentions(end, vector_.axis) || std::ranges::any_of(extents_, varies)) return false;
    rows.limit = end;
    return true;
  }

  Ref<Stmt> to_array(const Ref<Stmt>& stmt) {
    const auto* store = std::get_if<loops::Store>(&stmt->node);
    if (store == nullptr || !store->mask.all.empty() || store->update != loops::Update::replace) return stmt;
    if (names_.buffers()[store->buffer.index].local || loaded_.contains(store->buffer)) return stmt;
    const auto rows = rows_of(store->buffer, store->offset, true);
    const auto array = rows ? array_of(*rows) : std::nullopt;
    if (!array) return stmt;
    return loops::stmt(
        loops::Store{*array, place_of(*rows, store->offset), {}, store->value, loops::Update::replace});
  }

  using Body = std::function<Ref<Stmt>(const Expr&)>;
  Ref<Stmt> loop(std::string_view name, std::int64_t extent, loops::Bind bind, const Body& body) {
    if (extent == 1) return body(0);
    const index::Symbol axis = names_.symbol(name);
    return loops::stmt(Loop{axis, extent, bind, body(Expr(axis))});
  }

  // Rows as they lie, with what stands at the limit and behind it.
  Kept filled(const Kept& kept, std::vector<Ref<Stmt>>& stmts) {
    Kept result = kept;
    const loops::BufferInfo info = names_.buffers()[kept.rows.buffer.index];
    result.rows.buffer = new_array(info, lanes_ * kept.rows.count);
    result.rows.base = 0;
    stmts.push_back(loop("part", kept.rows.count, loops::Bind::serial, [&](const Expr& part) {
      return loop("lane", lanes_, loops::Bind::vector, [&](const Expr& lane) {
        const Expr place = lanes_ * part + lane;
        const auto value = loops::load(kept.rows.buffer, kept.rows.base + place,
                                       {{{place, *kept.rows.limit}}}, kept.rows.otherwise);
        return loops::stmt(loops::Store{result.rows.buffer, place, {}, value, loops::Update::replace});
      });
    }));
    return result;
  }

  // Elements of all rows into their array, or out of it: by squares, then places that make none one by one.
  void moved(const Kept& given, std::vector<Ref<Stmt>>& stmts) {
    const Kept kept = given.rows.limit ? filled(given, stmts) : given;
    const ops::DType dtype = names_.buffers()[kept.array.index].dtype;
    constexpr std::int64_t MOST = 16;  // whose rows registers hold
    const std::int64_t most = ops::size_of(dtype) > 4 ? MOST / 2 : MOST;
    const std::int64_t side = lanes_ % most == 0 ? most : LEAST_ROW;
    const std::int64_t squares = kept.rows.count / side;
    using loops::Bind;
    const auto square = [&](const Expr& place, const Expr& lane) {
      const bool out = kept.rows.stored;  // the vector is along what are neighbours in the target
      return loop("row", side, Bind::unroll, [&](const Expr& row) {
        return loop("lane", side, Bind::vector, [&](const Expr& at) {
          return copied(kept, place + (out ? at : row), lane + (out ? row : at));
        });
      });
    };
    if (squares > 0)
      stmts.push_back(loop("rows", lanes_ / side, Bind::serial, [&](const Expr& rows) {
        return loop("square", squares, Bind::serial,
                    [&](const Expr& number) { return square(side * number, side * rows); });
      }));
    if (const std::int64_t left = kept.rows.count % side; left > 0)
      stmts.push_back(loop("left", left, Bind::serial, [&](const Expr& number) {
        return loop("lane", lanes_, Bind::vector,
                    [&](const Expr& lane) { return copied(kept, side * squares + number, lane); });
      }));
  }
  Ref<Stmt> copied(const Kept& kept, const Expr& place, const Expr& lane) const {
    const auto& [rows, array] = kept;
    const Expr outside = rows.base + rows.stride * lane + place, inside = lanes_ * place + lane;
    const auto [from, to] = rows.stored ? std::pair(array, rows.buffer) : std::pair(rows.buffer, array);
    const ops::DType dtype = names_.buffers()[array.index].dtype;
    const auto value = loops::load(from, rows.stored ? inside : outside, {},
                                   loops::Literal{ops::cast(ops::Number(0), dtype), dtype});
    return loops::stmt(loops::Store{to, rows.stored ? outside : inside, {}, value, loops::Update::replace});
  }

  const Loop& whole_;  // the vector itself, or the loop around it
  const Loop& vector_;
  const std::set<Buffer>& loaded_;  // anywhere in the program
  std::set<Buffer> stored_;         // in these loops
  Names& names_;
  std::int64_t lanes_ = 0, bytes_ = 0;
  std::map<index::Symbol, std::int64_t> extents_;
  std::vector<Kept> kept_;
  std::vector<Buffer> arrays_;
};

// The vector that the loop has as its whole body, without loops inside, unless it only moves elements.
const Loop* vector_in(const Loop& loop) {
  const auto* vector = std::get_if<Loop>(&loop.body->node);
  if (loop.bind != loops::Bind::serial || vector == nullptr || vector->bind != loops::Bind::vector)
    return nullptr;
  bool plain = true;
  loops::for_each_stmt(*vector->body,
                       [&](const Stmt& stmt) { plain = plain && !std::holds_alternative<Loop>(stmt.node); });
  const auto* store = std::get_if<loops::Store>(&vector->body->node);
  const bool moves = store != nullptr && std::holds_alternative<loops::Load>(store->value->node);
  return plain && !moves ? vector : nullptr;
}

}  // namespace

std::string why_not_transposed(const Plan& plan) {
  // Of a scan a vector also walks rows of one chunk side by side.
  const auto walks_rows = [](const Scope& scope) {
    return scope.reach == Reach::scan && std::ranges::any_of(scope.order, [&](const Turn& turn) {
             return scope.piece(turn).bind == loops::Bind::vector &&
                    scope.piece(turn).step >= LEAST_ROW_STRIDE;
           });
  };
  const bool side_by_side = in_lockstep(plan.common) || std::ranges::any_of(plan.siblings, walks_rows);
  if (plan.siblings.empty() || !side_by_side) return "transposed_rows: no vector walks rows side by side";
  if (has_threads(plan.common) || std::ranges::any_of(plan.siblings, has_threads))
    return "transposed_rows: threads read rows together already";
  const bool masked = std::ranges::any_of(plan.common.order, [&](const Turn& turn) {
    return plan.common.piece(turn).bind == loops::Bind::vector &&
           plan.common.axes[turn.axis].tail == Tail::mask;
  });
  return masked ? "transposed_rows: the vector of rows is masked" : "";
}

Ref<Stmt> transpose_rows(const Ref<Stmt>& stmt, Names& names) {
  std::set<Buffer> loaded;
  loops::for_each_stmt(*stmt, [&](const Stmt& inner) {
    loops::for_each_value(inner, [&](const Value& value) {
      if (const auto* load = std::get_if<loops::Load>(&value.node)) loaded.insert(load->buffer);
    });
  });
  return loops::rewrite_stmts(stmt, [&](const Ref<Stmt>& inner) {
    const auto* loop = std::get_if<Loop>(&inner->node);
    if (loop == nullptr) return inner;
    const Loop* vector = loop->bind == loops::Bind::vector ? loop : vector_in(*loop);
    if (vector == nullptr) return inner;
    const Ref<Stmt> transposed = Transposer(*loop, *vector, loaded, names).run();
    return transposed == nullptr ? inner : transposed;
  });
}

}  // namespace twinloom::schedule
