// See aligned_rows.h.
#include "core/schedule/aligned_rows.h"

#include <algorithm>
#include <numeric>

#include "core/loops/nest.h"
#include "core/loops/rewrite.h"
#include "core/schedule/constants.h"
#include "core/steps/fresh.h"

namespace twinloom::schedule {

namespace {

using index::Expr;
using loops::Nest;
using loops::Program;
using loops::Ref;
using loops::Sibling;
using loops::Stmt;
using loops::Temp;

// Where the rows of a loop lie: the offset of their first elements, and how many elements are moved at once.
struct Rows {
  Expr first;
  std::int64_t packed = 1;
};

// What a loop touches, while nothing speaks against walking it so.
class Touched {
 public:
  Touched(const Program& nest, const Sibling& sibling) : nest_(nest), axis_(sibling.loops.front().axis) {
    for (const Ref<Stmt>& stmt : sibling.inner) {
      if (const auto* index = std::get_if<loops::Index>(&stmt->node)) found_.insert(index->symbol);
      const auto* store = std::get_if<loops::Store>(&stmt->node);
      const bool plain = store != nullptr && store->update == loops::Update::replace;
      fits_ = fits_ && (plain || std::holds_alternative<loops::Let>(stmt->node) ||
                        std::holds_alternative<loops::Index>(stmt->node));
      if (plain) add(store->buffer, store->offset, store->mask);
      stores_ = stores_ || plain;
      loops::for_each_value(*stmt, [&](const loops::Value& value) {
        if (const auto* load = std::get_if<loops::Load>(&value.node))
          add(load->buffer, load->offset, load->mask);
      });
    }
  }

  std::optional<Rows> rows(const index::Facts& facts) const {
    if (!fits_ || !stores_ || firsts_.empty()) return std::nullopt;
    const std::int64_t packed = PACKED_BYTES / bytes_;
    const Expr& first = firsts_.front();
    const bool together = std::ranges::all_of(
        firsts_, [&](const Expr& other) { return facts.divisor(other - first) % packed == 0; });
    const bool between_words = std::gcd(facts.divisor(first), packed) * bytes_ < WORD_BYTES;
    return together && between_words ? std::optional(Rows{first, packed}) : std::nullopt;
  }

 private:
  void add(loops::Buffer buffer, const Expr& offset, const index::Condition& mask) {
    const auto linear = index::linear_in(offset, axis_);
    const auto stride = linear ? index::constant_of(linear->scale) : std::nullopt;
    const bool is_fixed = linear && !index::any_symbol(linear->rest, [&](index::Symbol symbol) {
                            return found_.contains(symbol);
                          });
    fits_ = fits_ && is_fixed && stride && (*stride == 0 || *stride == 1) &&
            !index::symbols_of(mask).contains(axis_);
    if (!fits_ || *stride == 0) return;
    firsts_.push_back(linear->rest);
    bytes_ = std::min(bytes_, std::int64_t{ops::size_of(nest_.buffers[buffer.index].dtype)});
  }

  const Program& nest_;
  index::Symbol axis_;
  std::set<index::Symbol> found_;
  bool fits_ = true, stores_ = false;
  std::int64_t bytes_ = PACKED_BYTES;  // of the shortest element
  std::vector<Expr> firsts_;
};

// The last common loop becomes a sibling with all that changes along it; nothing where it is the only one, or
// where there are siblings.
std::optional<Nest> with_last_axis_inside(const Nest& nest) {
  Nest result;
  Sibling sibling;
  if (nest.common.size() < 2) return std::nullopt;
  result.common.assign(nest.common.begin(), nest.common.end() - 1);
  sibling.loops = {nest.common.back()};
  std::set<index::Symbol> varying = {nest.common.back().axis};
  std::set<Temp> temps;
  for (const loops::Item& item : nest.items) {
    const auto* stmt = std::get_if<Ref<Stmt>>(&item);
    if (stmt == nullptr || std::holds_alternative<loops::Start>((*stmt)->node)) return std::nullopt;
    bool inside = std::holds_alternative<loops::Store>((*stmt)->node);
    for (const index::Symbol& symbol : loops::symbols_of(**stmt)) inside = inside || varying.contains(symbol);
    loops::for_each_temp(**stmt, [&](Temp temp) { inside = inside || temps.contains(temp); });
    if (!inside) {
      result.items.push_back(item);
      continue;
    }
    if (const auto* let = std::get_if<loops::Let>(&(*stmt)->node)) temps.insert(let->temp);
    if (const auto* index = std::get_if<loops::Index>(&(*stmt)->node)) varying.insert(index->symbol);
    sibling.inner.push_back(*stmt);
  }
  result.items.emplace_back(std::move(sibling));
  return result;
}

class Aligning {
 public:
  explicit Aligning(const Program& nest) : nest_(nest), next_temp_(loops::next_temp(nest).index) {
    taken_ = loops::symbols_of(*nest.body);
    loops::for_each_stmt(*nest.body, [&](const Stmt& stmt) {
      if (const auto* loop = std::get_if<loops::Loop>(&stmt.node)) taken_.insert(loop->axis);
    });
    for (const loops::SizeInfo& size : nest.sizes) taken_.insert(size.symbol);
  }

  // The nest as it is where no loop is one of such rows.
  Program operator()() {
    const Nest given = loops::take_apart(nest_);
    const Nest nest = with_last_axis_inside(given).value_or(given);
    const index::Facts facts = loops::facts_of(nest_);
    Nest result = {nest.common, {}, nest.columns};
    bool any = false;
    for (const loops::Item& item : nest.items) {
      const auto* sibling = std::get_if<Sibling>(&item);
      const auto rows = sibling != nullptr ? rows_of(*sibling, nest, facts) : std::nullopt;
      any = any || rows;
      if (rows)
        add(result, *sibling, *rows);
      else
        result.items.push_back(item);
    }
    Program program = nest_;
    if (any) program.body = loops::put_together(result);
    return program;
  }

 private:
  std::optional<Rows> rows_of(const Sibling& sibling, const Nest& nest, const index::Facts& facts) const {
    const auto extent = index::constant_of(sibling.loops.front().extent);
    if (sibling.loops.size() != 1 || extent.value_or(0) < LEAST_ALIGNED || shares(sibling, nest))
      return std::nullopt;
    return Touched(nest_, sibling).rows(facts);
  }
  // Whether another sibling touches what this one does, which threads may keep in the order of both.
  bool shares(const Sibling& sibling, const Nest& nest) const {
    const auto touches = [](const Sibling& of, loops::Buffer buffer) {
      return std::ranges::any_of(of.inner, [&](const Ref<Stmt>& stmt) {
        return loops::loads_from(*stmt, buffer) || loops::stores_to(*stmt, buffer);
      });
    };
    for (const loops::Item& item : nest.items) {
      const auto* other = std::get_if<Sibling>(&item);
      if (other == nullptr || other == &sibling) continue;
      for (std::uint32_t b = 0; b < nest_.buffers.size(); ++b)
        if (touches(sibling, loops::Buffer{b}) && touches(*other, loops::Buffer{b})) return true;
    }
    return false;
  }

  void add(Nest& result, const Sibling& sibling, const Rows& rows) {
    const std::int64_t extent = *index::constant_of(sibling.loops.front().extent);
    const std::int64_t inside = extent / rows.packed * rows.packed - rows.packed;
    const index::Symbol edge = fresh(sibling), middle = fresh(sibling);
    const Expr past = least(floor_div(floor_mod(rows.first, rows.packed) + edge, rows.packed), 1);
    result.items.emplace_back(walked(sibling, edge, extent - inside, Expr(edge) + past * inside));
    const Expr aligned = floor_div(rows.first, rows.packed) * rows.packed + rows.packed;
    result.items.emplace_back(walked(sibling, middle, inside, aligned + middle - rows.first));
  }
  index::Symbol fresh(const Sibling& sibling) {
    return steps::fresh_symbol(sibling.loops.front().axis.name(), taken_);
  }
  Sibling walked(const Sibling& sibling, index::Symbol axis, std::int64_t extent, const Expr& element) {
    const Ref<Stmt> renamed = steps::with_fresh_names(
        loops::block(sibling.inner),
        {[&] { return Temp{next_temp_++}; },
         [&](std::string_view stem) { return steps::fresh_symbol(stem, taken_); }, std::identity()});
    const Ref<Stmt> body = loops::substitute(renamed, {{sibling.loops.front().axis, element}});
    return {{{axis, extent}}, loops::stmts_of(body)};
  }

  const Program& nest_;
  std::uint32_t next_temp_;
  std::set<index::Symbol> taken_;
};

}  // namespace

loops::Program with_aligned_rows(const loops::Program& nest) { return Aligning(nest)(); }

}  // namespace twinloom::schedule
