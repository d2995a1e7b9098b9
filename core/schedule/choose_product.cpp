// Contractions as tiles: c[i, j] = sum over k of a[i, k] * b[k, j]. A task takes a block of rows and columns;
// of both operands it copies what a stretch of k needs into dense arrays, and sums up tiles of registers from
// these:
//   i.0, j.0 tasks { k.0 { a -> array; j.1 { b -> array; i.1 { k.1 { i.2 rows x j.2 vectors in registers } }
//   } } }
// Several sizes of blocks and tiles are handed to the estimate.
#include <algorithm>

#include "core/base/integers.h"
#include "core/schedule/constants.h"
#include "core/schedule/heuristics.h"
#include "core/schedule/product.h"

namespace twinloom::schedule {

namespace {

std::string piece_of(const loops::NestLoop& loop, std::size_t number) { return cat(loop.axis, ".", number); }

// As many whole tiles as make blocks of one size, none larger than `most`: what a block has past the end is
// computed for nobody.
std::int64_t even(std::int64_t extent, std::int64_t most, std::int64_t tile) {
  const std::int64_t blocks = std::max<std::int64_t>(ceil_div(extent, most), 1);
  return std::max<std::int64_t>(ceil_div(ceil_div(extent, blocks), tile), 1) * tile;
}

}  // namespace

std::vector<steps::Step> tiled(const Contraction& of, const std::optional<Blocks>& blocks, const Tile& tile,
                               std::int64_t lanes, bool packs_right) {
  using loops::Bind, loops::Place;
  std::vector<steps::Step> steps;
  const auto add = [&](auto step) { steps.push_back({std::move(step)}); };
  const std::size_t inner = blocks ? 1 : 0;  // the first piece inside the blocks
  const std::size_t chains = blocks && blocks->depth ? 1 : 0;
  std::vector<std::int64_t> rows = {tile.rows}, columns = {lanes * tile.vectors}, depth = {CHAIN};
  if (tile.vectors > 1) columns.push_back(lanes);
  if (blocks) rows.insert(rows.begin(), blocks->rows), columns.insert(columns.begin(), blocks->columns);
  if (chains == 1) depth.insert(depth.begin(), *blocks->depth);
  const std::string i(of.rows.axis.name()), j(of.columns.axis.name()), k(of.depth.axis.name());
  const std::string row = piece_of(of.rows, inner + 1), vector = piece_of(of.columns, columns.size()),
                    beside = piece_of(of.columns, inner + 1), chain = piece_of(of.depth, chains),
                    outside = chains == 1 ? k + ".0" : j + ".0";
  add(steps::Split{i, rows, steps::Tail::mask});
  add(steps::Split{j, columns, steps::Tail::mask});
  add(steps::Split{k, depth, steps::Tail::clip});
  std::vector<std::string> order = of.others;
  if (blocks) order.insert(order.end(), {i + ".0", j + ".0"});
  if (chains == 1) order.push_back(outside);
  order.insert(order.end(), {piece_of(of.columns, inner), piece_of(of.rows, inner), chain,
                             piece_of(of.depth, chains + 1), row});
  if (tile.vectors > 1) order.push_back(beside);
  order.push_back(vector);
  add(steps::Reorder{order});
  if (blocks) add(steps::Cache{of.left, outside, Place::scratch});
  if (packs_right) add(steps::Cache{of.right, piece_of(of.columns, inner), Place::scratch});
  add(steps::Cache{of.total, chain, Place::registers});
  if (blocks) {
    for (const std::string& other : of.others) add(steps::BindLoop{other, Bind::block});
    for (const std::string& axis : {i, j}) add(steps::BindLoop{axis + ".0", Bind::block});
  }
  add(steps::BindLoop{row, Bind::unroll});
  if (tile.vectors > 1) add(steps::BindLoop{beside, Bind::unroll});
  add(steps::BindLoop{vector, Bind::vector});
  return steps;
}

std::vector<Schedule> choose_products(const loops::Program& nest, const machine::Machine& machine) {
  if (machine.max_threads > 1) return {};
  const auto found = find_contraction(nest);
  if (!found) return {};
  const std::int64_t lanes = machine.vector_bytes / FLOAT_BYTES;
  const index::Values sizes = usual_sizes(nest);
  std::vector<Schedule> schedules;
  for (const Tile& tile : {Tile{8, 3}, Tile{12, 2}, Tile{6, 2}, Tile{4, 3}}) {
    if (tile.rows * tile.vectors + tile.vectors + 1 > machine.vector_registers) continue;
    for (const Blocks& most :
         {Blocks{48, 192, 256}, Blocks{96, 384, 256}, Blocks{192, 384, 256}, Blocks{192, 384, 512}}) {
      const bool whole =
          usual_extent(found->depth, sizes) <= *most.depth && index::constant_of(found->depth.extent);
      const Blocks blocks = {even(usual_extent(found->rows, sizes), most.rows, tile.rows),
                             even(usual_extent(found->columns, sizes), most.columns, tile.vectors * lanes),
                             whole ? std::nullopt : most.depth};
      schedules.emplace_back().steps = tiled(*found, blocks, tile, lanes, true);
    }
  }
  return schedules;
}

}  // namespace twinloom::schedule
