// Contractions as tiles: c[i, j] = sum over k of a[i, k] * b[k, j]. A task takes a block of rows and columns;
// of both operands it copies what a stretch of k needs into dense arrays, and sums up tiles of registers from
// these:
//   i.0, j.0 tasks { k.0 { a -> array; j.1 { b -> array; i.1 { k.1 { i.2 rows x j.2 vectors in registers } }
//   } } }
// Several sizes of blocks and tiles are handed to the estimate.
#include <algorithm>

#include "core/base/integers.h"
#include "core/loops/rewrite.h"
#include "core/schedule/heuristics.h"

namespace twinloom::schedule {

namespace {

// A nest that is one contraction, in the names of its axes and buffers.
struct Contraction {
  std::vector<std::string> others;  // common axes that stay as they are
  loops::NestLoop rows, columns,
      depth;                // of the left operand only, of the right one only, of both and summed over
  std::string left, right;  // buffers
  std::string total;
};

// The one load that a factor is computed from; nothing where there are several.
std::optional<loops::Load> only_load(const loops::Value& factor) {
  std::optional<loops::Load> found;
  int loads = 0;
  loops::for_each_value(factor, [&](const loops::Value& value) {
    if (const auto* load = std::get_if<loops::Load>(&value.node)) found = *load, ++loads;
  });
  return loads == 1 ? found : std::nullopt;
}

bool is_unit_stride(const index::Expr& offset, const index::Symbol& axis) {
  const auto linear = index::linear_in(offset, axis);
  return linear && linear->scale == index::Expr(1);
}

class Finder {
 public:
  explicit Finder(const loops::Program& nest) : nest_(nest), shape_(loops::take_apart(nest)) {}

  std::optional<Contraction> find() {
    if (shape_.columns || !find_sum()) return std::nullopt;
    auto left = only_load(*factors_[0]), right = only_load(*factors_[1]);
    if (!left || !right || left->buffer == right->buffer) return std::nullopt;
    const loops::NestLoop* columns = find_columns();
    if (columns == nullptr) return std::nullopt;
    if (index::mentions(left->offset, columns->axis)) std::swap(left, right);
    if (index::mentions(left->offset, columns->axis) || !index::mentions(right->offset, columns->axis))
      return std::nullopt;
    const loops::NestLoop* rows = find_rows(*left, *right);
    if (rows == nullptr) return std::nullopt;
    Contraction found{{},
                      *rows,
                      *columns,
                      sibling_->loops.front(),
                      name(*left),
                      name(*right),
                      cat("t", start_->total.index)};
    for (const loops::NestLoop& loop : shape_.common)
      if (loop.axis != rows->axis && loop.axis != columns->axis) found.others.emplace_back(loop.axis.name());
    return found;
  }

 private:
  std::string name(const loops::Load& load) const { return nest_.buffers[load.buffer.index].name; }

  // One free sum of products over one axis, and nothing else that is summed.
  bool find_sum() {
    for (const loops::Item& item : shape_.items) {
      if (const auto* sibling = std::get_if<loops::Sibling>(&item)) {
        if (sibling_ != nullptr || sibling->loops.size() != 1 || sibling->inner.size() != 1) return false;
        sibling_ = sibling;
      } else if (const auto* start =
                     std::get_if<loops::Start>(&std::get<loops::Ref<loops::Stmt>>(item)->node)) {
        if (start_ != nullptr || !start->free) return false;
        start_ = start;
      }
    }
    if (sibling_ == nullptr || start_ == nullptr) return false;
    const auto* step = std::get_if<loops::Accumulate>(&sibling_->inner.front()->node);
    const auto* product = step == nullptr ? nullptr : std::get_if<loops::Apply>(&step->values.front()->node);
    if (product == nullptr || product->op != ops::Pointwise::mul) return false;
    factors_ = product->inputs;
    return true;
  }

  // The axis along which results are neighbours.
  const loops::NestLoop* find_columns() const {
    for (const loops::Item& item : shape_.items) {
      const auto* stmt = std::get_if<loops::Ref<loops::Stmt>>(&item);
      const auto* store = stmt == nullptr ? nullptr : std::get_if<loops::Store>(&(*stmt)->node);
      if (store == nullptr) continue;
      for (const loops::NestLoop& loop : shape_.common)
        if (is_unit_stride(store->offset, loop.axis)) return &loop;
    }
    return nullptr;
  }

  // The longest axis of the left operand alone.
  const loops::NestLoop* find_rows(const loops::Load& left, const loops::Load& right) const {
    const index::Values sizes = usual_sizes(nest_);
    const loops::NestLoop* longest = nullptr;
    for (const loops::NestLoop& loop : shape_.common) {
      if (!index::mentions(left.offset, loop.axis) || index::mentions(right.offset, loop.axis)) continue;
      if (longest == nullptr || usual_extent(loop, sizes) > usual_extent(*longest, sizes)) longest = &loop;
    }
    return longest;
  }

  const loops::Program& nest_;
  loops::Nest shape_;
  const loops::Sibling* sibling_ = nullptr;
  const loops::Start* start_ = nullptr;
  std::vector<loops::Ref<loops::Value>> factors_;
};

struct Blocks {
  std::int64_t rows, columns, depth;  // of a task, and of k that is copied at once
};
constexpr std::int64_t CHAIN = 128;  // products that are added up one after the other: errors grow with it
struct Tile {
  std::int64_t rows, vectors;  // of registers
};

Schedule tiled(const Contraction& of, const Blocks& blocks, const Tile& tile, std::int64_t lanes,
               bool whole_depth) {
  using loops::Bind, loops::Place;
  const std::string i(of.rows.axis.name()), j(of.columns.axis.name()), k(of.depth.axis.name());
  Schedule schedule;
  const auto add = [&](auto step) { schedule.steps.push_back({std::move(step)}); };
  add(steps::Split{i, {blocks.rows, tile.rows}, steps::Tail::mask});
  std::vector<std::int64_t> columns = {blocks.columns, lanes * tile.vectors};
  if (tile.vectors > 1) columns.push_back(lanes);
  add(steps::Split{j, columns, steps::Tail::mask});
  const std::string vector = cat(j, ".", columns.size());
  std::vector<std::string> order = of.others;
  order.insert(order.end(), {i + ".0", j + ".0"});
  add(steps::Split{k, whole_depth ? std::vector{CHAIN} : std::vector{blocks.depth, CHAIN},
                   steps::Tail::clip});
  if (!whole_depth) order.push_back(k + ".0");
  const std::string chains = k + (whole_depth ? ".0" : ".1"), chain = k + (whole_depth ? ".1" : ".2");
  order.insert(order.end(), {j + ".1", i + ".1", chains, chain, i + ".2"});
  if (tile.vectors > 1) order.push_back(j + ".2");
  order.push_back(vector);
  add(steps::Reorder{order});
  add(steps::Cache{of.left, whole_depth ? j + ".0" : k + ".0", Place::scratch});
  add(steps::Cache{of.right, j + ".1", Place::scratch});
  add(steps::Cache{of.total, chains, Place::registers});
  for (const std::string& other : of.others) add(steps::BindLoop{other, Bind::block});
  for (const std::string& axis : {i, j}) add(steps::BindLoop{axis + ".0", Bind::block});
  add(steps::BindLoop{i + ".2", Bind::unroll});
  if (tile.vectors > 1) add(steps::BindLoop{j + ".2", Bind::unroll});
  add(steps::BindLoop{vector, Bind::vector});
  return schedule;
}

// As many whole tiles as make blocks of one size, none larger than `most`: what a block has past the end is
// computed for nobody.
std::int64_t even(std::int64_t extent, std::int64_t most, std::int64_t tile) {
  const std::int64_t blocks = std::max<std::int64_t>(ceil_div(extent, most), 1);
  return std::max<std::int64_t>(ceil_div(ceil_div(extent, blocks), tile), 1) * tile;
}

}  // namespace

std::vector<Schedule> choose_products(const loops::Program& nest, const machine::Machine& machine) {
  if (machine.max_threads > 1) return {};
  const auto found = Finder(nest).find();
  if (!found) return {};
  constexpr std::int64_t FLOAT_BYTES = 4;
  const std::int64_t lanes = machine.vector_bytes / FLOAT_BYTES;
  const index::Values sizes = usual_sizes(nest);
  std::vector<Schedule> schedules;
  for (const Tile& tile : {Tile{8, 3}, Tile{12, 2}, Tile{6, 2}, Tile{4, 3}}) {
    if (tile.rows * tile.vectors + tile.vectors + 1 > machine.vector_registers) continue;
    for (const Blocks& most :
         {Blocks{48, 192, 256}, Blocks{96, 384, 256}, Blocks{192, 384, 256}, Blocks{192, 384, 512}}) {
      const bool whole =
          usual_extent(found->depth, sizes) <= most.depth && index::constant_of(found->depth.extent);
      const Blocks blocks = {even(usual_extent(found->rows, sizes), most.rows, tile.rows),
                             even(usual_extent(found->columns, sizes), most.columns, tile.vectors * lanes),
                             most.depth};
      schedules.push_back(tiled(*found, blocks, tile, lanes, whole));
    }
  }
  return schedules;
}

}  // namespace twinloom::schedule
