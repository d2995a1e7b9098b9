// Contractions as tiles: c[i, j] = sum over k of a[i, k] * b[k, j]. A task takes a block of rows and columns;
// of both operands it copies what a stretch of k needs into dense arrays, and sums up tiles of registers from
// these:
//   i.0, j.0 tasks { k.0 { a -> array; j.1 { b -> array; i.1 { k.1 { i.2 rows x j.2 vectors in registers } }
//   } } }
// Several sizes of blocks and tiles are handed to the estimate.
#include <algorithm>

#include "core/base/integers.h"
#include "core/schedule/heuristics.h"
#include "core/schedule/product.h"

namespace twinloom::schedule {

namespace {

struct Blocks {
  std::int64_t rows, columns, depth;  // of a task, and of k that is copied at once
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
  const auto found = find_contraction(nest);
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
