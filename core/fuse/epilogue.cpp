// See epilogue.h.
//   call stable_sort(order) sizes [n, 2^32, rows] { slot t0 at (a0) { .. } }
//   for i0 < rows { for i1 < n { index x0 = order[n*i0 + i1] below n; y[n*i0 + i1] = x[n*i0 + x0] } }
//     ->
//   call stable_sort(order) sizes [n, 2^32, rows] {
//     slot t0 at (a0) { .. }
//     slot t1 at (a1, a2) { index x0 = t1 below n; y[n*a1 + a2] = x[n*a1 + x0] }
//   }
#include "core/fuse/epilogue.h"

#include "core/index/simplify.h"
#include "core/loops/rewrite.h"

namespace twinloom::fuse {

using namespace loops;

namespace {

class Epilogue {
 public:
  Epilogue(const Nest& sort, const Nest& reader, Buffer order, lower::Names& names)
      : sort_(sort), reader_(reader), order_(order), names_(names) {}

  std::optional<Nest> run() {
    const auto* stmt = sort_.items.size() == 1 ? std::get_if<Ref<Stmt>>(&sort_.items.front()) : nullptr;
    const auto* call = stmt != nullptr ? std::get_if<Call>(&(*stmt)->node) : nullptr;
    if (call == nullptr || call->routine != Routine::stable_sort || has_starts(*call)) return std::nullopt;
    if (epilogue_of(*call) != nullptr || reader_.columns || reader_.common.empty()) return std::nullopt;
    if (!walks_rows(call_sizes(*call)) || !take_statements()) return std::nullopt;
    Call whole = *call;
    whole.slots.push_back(slot(call_sizes(*call)));
    return Nest{{}, {loops::stmt(std::move(whole))}};
  }

 private:
  const Axis& innermost() const { return reader_.common.back().axis; }

  bool walks_rows(const CallSizes& sizes) {
    index::Expr rows = 1;
    for (std::size_t k = 0; k + 1 < reader_.common.size(); ++k) rows = rows * reader_.common[k].extent;
    offset_ = index::Expr(0);
    for (const NestLoop& loop : reader_.common) offset_ = offset_ * loop.extent + index::Expr(loop.axis);
    return reader_.common.back().extent == sizes.n && rows == sizes.rows;
  }

  // Plain statements, with the order's loads at the position of the loops alone.
  bool take_statements() {
    for (const Item& item : reader_.items) {
      const auto* stmt = std::get_if<Ref<Stmt>>(&item);
      if (stmt == nullptr || !is_plain(**stmt)) return false;
      body_.push_back(*stmt);
    }
    bool is_there = true;
    for (const Ref<Stmt>& stmt : body_) {
      for_each_value(*stmt, [&](const Value& value) {
        const auto* load = std::get_if<Load>(&value.node);
        if (load != nullptr && load->buffer == order_)
          is_there = is_there && load->mask.all.empty() && load->offset == offset_;
      });
    }
    return is_there;
  }

  // Threads that follow each other have positions that do, so stores must lie side by side.
  bool is_plain(const Stmt& stmt) const {
    if (std::holds_alternative<Let>(stmt.node) || std::holds_alternative<Index>(stmt.node)) return true;
    const auto* store = std::get_if<Store>(&stmt.node);
    if (store == nullptr || store->update != Update::replace) return false;
    const index::Expr axis(innermost());
    return index::substitute(store->offset, {{innermost(), axis + 1}}) == store->offset + 1;
  }

  Slot slot(const CallSizes& sizes) {
    const Axis row = names_.symbol("a"), position = names_.symbol("a");
    const Temp element = names_.temp();
    Ref<Stmt> body = rewrite_values(block(body_), [&](const Ref<Value>& value) {
      const auto* load = std::get_if<Load>(&value->node);
      return load != nullptr && load->buffer == order_ ? read(element) : value;
    });
    body = rewrite_stmts(substitute(body, places(row, position)),
                         [&](const Ref<Stmt>& stmt) { return without_check(stmt, element, sizes.n); });
    return {{row, position}, element, std::move(body)};
  }

  index::Substitution places(Axis row, Axis position) const {
    index::Substitution places = {{innermost(), index::Expr(position)}};
    index::Expr left(row);
    for (std::size_t k = reader_.common.size() - 1; k-- > 0;) {
      const NestLoop& loop = reader_.common[k];
      places[loop.axis] = k == 0 ? left : index::floor_mod(left, loop.extent);
      left = index::floor_div(left, loop.extent);
    }
    return places;
  }

  // What an order says is in range.
  static Ref<Stmt> without_check(const Ref<Stmt>& stmt, Temp element, const index::Expr& n) {
    const auto* index = std::get_if<Index>(&stmt->node);
    if (index == nullptr || index->bound != n) return stmt;
    const auto* value = std::get_if<Read>(&index->value->node);
    if (value == nullptr || value->temp != element) return stmt;
    Index unchecked = *index;
    unchecked.node = Index{}.node;
    return loops::stmt(std::move(unchecked));
  }

  const Nest &sort_, &reader_;
  Buffer order_;
  lower::Names& names_;
  index::Expr offset_ = 0;  // of the loops' position in the order
  std::vector<Ref<Stmt>> body_;
};

}  // namespace

std::optional<Nest> with_epilogue(const Nest& sort, const Nest& reader, Buffer order, lower::Names& names) {
  return Epilogue(sort, reader, order, names).run();
}

}  // namespace twinloom::fuse
