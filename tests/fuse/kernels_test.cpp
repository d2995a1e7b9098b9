// How many kernels graphs become, always with the evaluator's bits.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/fuse/fuse.h"
#include "core/graph/composites.h"
#include "core/graph/indexing.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"
#include "core/loops/nest.h"
#include "tests/lower/run_lowered.h"

namespace twinloom::tests {

using namespace graph;
using ops::DType;

TEST(Kernels, SoftmaxIsOneOverAnyAxis) {
  for (const int axis : {0, 1}) {
    Builder b;
    b.output(softmax(b.input("x", DType::f32, {37, 129}), axis));
    EXPECT_EQ(expect_same_bits(b.take()), 1U);
  }
}

TEST(Kernels, LayerNormIsOneAndItsGradientTwo) {
  Builder forward;
  const Tensor x = forward.input("x", DType::f32, {8, 33, 96});
  const Tensor w = forward.input("w", DType::f32, {96}), c = forward.input("c", DType::f32, {96});
  const Normalized norm = layer_norm(x, 1, w, c, 1e-5);
  forward.output(norm.value);
  forward.output(norm.mean);
  forward.output(norm.rstd);
  EXPECT_EQ(expect_same_bits(forward.take()), 1U);

  Builder backward;
  const Tensor g = backward.input("g", DType::f32, {8, 33, 96}),
               y = backward.input("x", DType::f32, {8, 33, 96});
  const Tensor mean = backward.input("mean", DType::f32, {8, 33, 1}),
               rstd = backward.input("rstd", DType::f32, {8, 33, 1});
  const Tensor v = backward.input("w", DType::f32, {96});
  const NormGradients gradients = layer_norm_backward(g, y, 1, mean, rstd, v);
  backward.output(*gradients.x);
  backward.output(*gradients.weight);
  backward.output(*gradients.bias);
  EXPECT_LE(expect_same_bits(backward.take()), 2U);
}

TEST(Kernels, CrossEntropyIsRowsAndOneFinalMean) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {96, 103}), target = b.input("target", DType::i64, {96});
  const Tensor logs = log_softmax(x, 1);
  b.output(logs);
  b.output(mean(neg(take_along(logs, 1, unsqueeze(target, 1)))));
  EXPECT_EQ(expect_same_bits(b.take(), {}, 103), 2U);
}

// What reads few of many elements computes them again: else the norm of the sum would be stored for them, and
// what is the same for a row would be fused with them first, as both read the norm.
TEST(Kernels, ASliceIsComputedAgain) {
  Builder b;
  const Tensor sum = b.input("x", DType::f32, {64, 33, 48}) + b.input("y", DType::f32, {64, 33, 48});
  const Tensor norm = layer_norm(sum, 1, {}, {}, 1e-6).value;
  b.output(norm);
  b.output(exp(slice_exact(norm, 1, 1, 1)));
  const Graph graph = b.take();
  EXPECT_EQ(expect_same_bits(graph), 2U);
  for (const lower::Value& value : fuse::fuse(lower::lower(graph)).lowered.values) {
    if (value.storage != lower::Storage::temporary) continue;
    EXPECT_LE(index::constant_of(value.count).value(), 64 * 33) << value.name;
  }
}

// A copy that nothing is fused with: its rows are of two axes, one of which has neighbours in memory.
TEST(Kernels, QuotientsOfACopyBecomeAxes) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {48, 6, 10});
  b.output(reshape(permute(x, {2, 1, 0}), {60, 48}));
  const Graph graph = b.take();
  EXPECT_EQ(expect_same_bits(graph), 1U);
  const lower::Lowered lowered = lower::lower(graph);
  const auto loops = [&](const fuse::Limits& limits) {
    const fuse::Fused fused = fuse::fuse(lowered, limits);
    return loops::take_apart(fused.lowered.units.front().nest).common.size();
  };
  EXPECT_EQ(loops({}), 3U);
  fuse::Limits limits;
  limits.seconds_as_chosen = [](const loops::Program& nest) {
    return static_cast<double>(loops::take_apart(nest).common.size());
  };
  EXPECT_EQ(loops(limits), 2U) << "it would take longer";
}

// Alone a copy into another order is staged in tiles, which usual schedules do not say: as it is chosen the
// one kernel may take longer although there are many iterations.
TEST(Kernels, ATransposedCopyIsNotPutBesideTotalsUnseen) {
  const auto kernels = [](bool transposed) {
    Builder b;
    const Tensor x = b.input("x", DType::f32, {200, 300});
    b.output(sum(x, {1}));
    b.output(transposed ? permute(exp(x), {1, 0}) : exp(x));
    fuse::Limits limits;
    limits.clearly_less = 0.8;
    limits.seconds = [](const loops::Program&) { return 1.0; };
    limits.seconds_as_chosen = [](const loops::Program& nest) {
      return std::ranges::count_if(nest.buffers, &loops::BufferInfo::written) == 2 ? 3.0 : 1.0;
    };
    return fuse::fuse(lower::lower(b.take()), limits).lowered.units.size();
  };
  EXPECT_EQ(kernels(true), 2U);
  EXPECT_EQ(kernels(false), 1U);
}

TEST(Kernels, ARowAndWhatReadsItFlat) {
  Builder b;
  const Tensor x = b.input("x", DType::bf16, {16, 64});
  const Tensor heads = widened(reshape(x, {16, 4, 16}));
  const Tensor scale = rsqrt(mean(heads * heads, {2}, true) + 1e-5);
  b.output(cast(reshape(heads * scale, {16, 64}), DType::bf16));
  EXPECT_EQ(expect_same_bits(b.take()), 1U);
}

TEST(Kernels, SumsOfTheSameElementsShareTheirLoads) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {70, 50}), y = b.input("y", DType::f32, {70, 50});
  b.output(sum(x, {1}));
  b.output(sum(x * y, {1}));
  b.output(cos(x));
  const Graph graph = b.take();
  EXPECT_EQ(expect_same_bits(graph), 1U);
  const fuse::Fused fused = fuse::fuse(lower::lower(graph));
  EXPECT_EQ(
      loops::print(fused.lowered.units.front().nest),
      R"(program k0_sum_mul_cos(in0: f32[3500], in1: f32[3500], out2: written f32[70], out3: written f32[70], out4: written f32[3500]) {
  for i0 < 70 {
    start t0: sum f32
    start t1: sum f32
    for r0 < 50 {
      t2 = in0[50*i0 + r0]
      t0 += t2 at r0
      t1 += mul(t2, in1[50*i0 + r0]) at r0
      out4[50*i0 + r0] = cos(t2)
    }
    out2[i0] = t0
    out3[i0] = t1
  }
}
)");
}

TEST(Kernels, AMaskedScanIsOneLoop) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {7, 100}), m = b.input("m", DType::b8, {7, 100});
  b.output(where(m, cumsum(x, 1), 0.0));
  EXPECT_EQ(expect_same_bits(b.take()), 1U);
}

TEST(Kernels, QuantizedRowsAreOne) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {33, 128});
  const Tensor scale = clamp(amax(abs(x), {1}, true), 1e-6, std::nullopt) / 127.0;
  const Tensor q = cast(clamp(round(x / scale), -128.0, 127.0), DType::i8);
  b.output(q);
  b.output(scale);
  b.output(cast(q, DType::f32) * scale);
  EXPECT_EQ(expect_same_bits(b.take()), 1U);
}

TEST(Kernels, SmallTotalsStandBesideTheirElements) {
  Builder b;
  const Tensor x = b.input("x", DType::i64, {3, 41}), y = b.input("y", DType::i64, {3, 41});
  b.output(div_floor(x, y));
  b.output(bitwise_and(x, y));
  b.output(sum(cast(gt(x, y), DType::i64), {}));
  EXPECT_EQ(expect_same_bits(b.take()), 1U);
}

TEST(Kernels, ALargeTotalKeepsAKernelOfItsOwn) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {300, 200});
  b.output(sum(x, {}));
  b.output(x / sum(x, {}));
  const Graph graph = b.take();
  EXPECT_EQ(expect_same_bits(graph), 2U);
  const fuse::Fused fused = fuse::fuse(lower::lower(graph));
  ASSERT_FALSE(fused.refusals.empty());
  EXPECT_EQ(fused.refusals.front().reason, fuse::Reason::parallelism);
  EXPECT_EQ(fused.refusals.front().words, "independent turns that would be left: 1");
}

// Where seconds of nests are known they decide: two totals in one kernel, or beside each other.
TEST(Kernels, SecondsDecideWhereFewTurnsAreLeft) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {300}), y = b.input("y", DType::f32, {300});
  b.output(sum(x, {}));
  b.output(sum(x * y, {}));
  const lower::Lowered lowered = lower::lower(b.take());
  const auto fused_where = [&](double seconds_of_both, std::int64_t enough_turns = 64, double as_chosen = 0) {
    fuse::Limits limits;
    limits.enough_turns = enough_turns;
    limits.clearly_less = 0.8;
    const auto tells = [](double of_both) {
      return [=](const loops::Program& nest) {
        const auto totals = std::ranges::count_if(nest.buffers, &loops::BufferInfo::written);
        return totals == 2 ? of_both : 1e-6;
      };
    };
    limits.seconds = tells(seconds_of_both);
    if (as_chosen != 0) limits.seconds_as_chosen = tells(as_chosen);
    return fuse::fuse(lowered, limits);
  };
  EXPECT_EQ(fused_where(2e-6).lowered.units.size(), 1U);
  EXPECT_EQ(fused_where(2.4e-6).lowered.units.size(), 2U);
  EXPECT_EQ(fused_where(2.4e-6, 64, 1.9e-6).lowered.units.size(), 1U) << "near: as they are scheduled";
  EXPECT_EQ(fused_where(1.8e-6, 64, 2.1e-6).lowered.units.size(), 2U) << "near: as they are scheduled";
  EXPECT_EQ(fused_where(1.5e-6, 64, 2.1e-6).lowered.units.size(), 1U) << "clear enough";
  EXPECT_EQ(fused_where(2.4e-6, 1).lowered.units.size(), 1U) << "turns enough, and not clearly slower";
  EXPECT_EQ(fused_where(5e-6, 1, 1.9e-6).lowered.units.size(), 1U) << "not as they are scheduled";
  const fuse::Fused slow = fused_where(5e-6, 1);
  ASSERT_EQ(slow.refusals.size(), 1U) << "turns enough, and clearly slower";
  EXPECT_EQ(slow.refusals.front().reason, fuse::Reason::no_gain);
  const fuse::Fused two = fused_where(5e-6);
  EXPECT_EQ(two.lowered.units.size(), 2U);
  ASSERT_EQ(two.refusals.size(), 1U);
  EXPECT_EQ(two.refusals.front().reason, fuse::Reason::parallelism);
  EXPECT_EQ(two.refusals.front().words, "one kernel would take 5.0 us, the two 2.0 us by their estimates");
}

// Where they are not near enough to be asked otherwise: totals of rows, and elements whose neighbours are
// rows.
TEST(Kernels, SecondsDecideWhereOrdersOfMemoryMeet) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {50, 96}), w = b.input("w", DType::f32, {96, 70});
  b.output(x * reshape(sum(w, {1}), {1, 96}));
  const lower::Lowered lowered = lower::lower(b.take());
  const auto fused_where = [&](double seconds_of_both) {
    fuse::Limits limits;
    limits.clearly_less = 0.6;
    limits.seconds_of_mixed = [=](const loops::Program& nest) {
      const auto inputs = std::ranges::count_if(
          nest.buffers, [](const loops::BufferInfo& buffer) { return buffer.name.starts_with("in"); });
      return inputs == 2 ? seconds_of_both : 1e-6;
    };
    return fuse::fuse(lowered, limits).lowered.units.size();
  };
  EXPECT_EQ(fused_where(3e-6), 1U);
  EXPECT_EQ(fused_where(3.5e-6), 2U);
}

// A thread walks one of them: a thousand are enough for rows and few for columns.
TEST(Kernels, ColumnsNeedMoreTurnsThanRows) {
  const auto units = [](std::int64_t rows, std::int64_t columns, int axis) {
    Builder b;
    const Tensor x = b.input("x", DType::f32, {rows, columns});
    b.output(x - sum(x, {axis}, true));
    const lower::Lowered lowered = lower::lower(b.take());
    fuse::Limits limits;
    limits.turns_of_columns = 256;
    limits.clearly_less = 0.8;
    limits.seconds = [](const loops::Program& nest) {
      const auto items = loops::take_apart(nest).items;
      const auto is_sibling = [](const auto& item) { return std::holds_alternative<loops::Sibling>(item); };
      return std::ranges::count_if(items, is_sibling) == 2 ? 2.4e-6 : 1e-6;
    };
    return fuse::fuse(lowered, limits).lowered.units.size();
  };
  EXPECT_EQ(units(1000, 300, 1), 1U);
  EXPECT_EQ(units(300, 1000, 0), 2U);
  EXPECT_EQ(units(300, 20000, 0), 1U);
}

// An element that two readers of a row want is computed again for the second, unless the row is kept: what
// that takes only seconds tell.
TEST(Kernels, SecondsDecideWhereElementsAreComputedAgain) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {30000, 96}), y = b.input("y", DType::f32, {30000, 96});
  const Tensor p = softmax(x, -1);
  b.output(p * p);
  const Tensor back = (y * (p * 2.0)) * p;
  b.output(back - p * sum(back, {1}, true));
  const lower::Lowered lowered = lower::lower(b.take());
  const auto fused_where = [&](double seconds_of_both) {
    fuse::Limits limits;
    limits.clearly_less = 0.8;
    limits.seconds = [=](const loops::Program& nest) {
      const auto inputs =
          std::ranges::count_if(nest.buffers, [](const auto& buffer) { return !buffer.written; });
      const bool has_both = inputs == 2 && loops::take_apart(nest).items.size() > 4;
      return has_both ? seconds_of_both : 1e-6;
    };
    return fuse::fuse(lowered, limits).lowered.units.size();
  };
  EXPECT_EQ(fused_where(1.5e-6), 1U);
  EXPECT_EQ(fused_where(1.7e-6), 2U) << "nearer than estimates are";
}

// What a channel is scaled by is computed again for each of its elements where starting a kernel takes
// longer.
TEST(Kernels, AMachineOfSlowStartsComputesAgain) {
  Builder b;
  const Tensor scale = b.input("scale", DType::f32, {32, 960}), x = b.input("x", DType::f32, {32, 960, 49});
  b.output(x * reshape(sigmoid(scale + 3.0), {32, 960, 1}));
  const graph::Graph graph = b.take();
  fuse::Limits limits;
  const auto units = [&] { return fuse::fuse(lower::lower(graph), limits).lowered.units.size(); };
  EXPECT_EQ(units(), 2U);
  limits.costs = {.memory = 30, .cached = 12, .launch = 9e7};
  EXPECT_EQ(units(), 1U);
  limits.seconds = [](const loops::Program& nest) {
    const bool is_both = nest.buffers.size() == 3 && loops::print(nest).find("sigmoid") != std::string::npos;
    return is_both ? 1.0 : 1e-6;
  };
  limits.costs.launch = 1e6;
  EXPECT_EQ(units(), 2U) << "seconds are asked where computing again costs more than a start";
}

// Each look up may be a sector of its own, whatever little the operators cost.
TEST(Kernels, SecondsDecideWhereElementsAreLookedUpAgain) {
  Builder b;
  const Tensor table = b.input("table", DType::f32, {32, 512}), at = b.input("at", DType::i64, {512});
  const Tensor y = b.input("y", DType::f32, {32, 64, 512});
  b.output(y * reshape(take(table, 1, at), {32, 1, 512}));
  const graph::Graph graph = b.take();
  const auto fused_where = [&](double seconds_of_both) {
    fuse::Limits limits;
    limits.costs = {.memory = 30, .cached = 12, .launch = 9e7};
    limits.seconds = [=](const loops::Program& nest) {
      return nest.buffers.size() == 4 ? seconds_of_both : 1e-6;
    };
    return fuse::fuse(lower::lower(graph), limits).lowered.units.size();
  };
  EXPECT_EQ(fused_where(1e-6), 1U);
  EXPECT_EQ(fused_where(1.0), 2U);
}

// An element chooses among many parts where that costs less than their kernels; each part is then loaded
// where it is an element of the part.
TEST(Kernels, ElementsChooseAmongManyPartsWhereStartsAreSlow) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {64, 12});
  std::vector<Tensor> parts;
  for (int k = 0; k < 7; ++k)
    parts.push_back(b.input(cat("part", k), DType::f32, {64, k % 2 == 0 ? 32 : 33}) * (k + 2.0));
  b.output(relu(concat(parts, 1)));
  b.output(concat({x, x, x, x, x, x}, 1));
  const graph::Graph graph = b.take();
  const lower::Costs slow = {.memory = 30, .cached = 12, .launch = 9e7};
  EXPECT_EQ(lower::lower(graph).units.size(), 9U);
  const lower::Lowered lowered = lower::lower(graph, {}, {}, slow);
  EXPECT_EQ(lowered.units.size(), 2U);
  const auto arguments = random_arguments(graph, 1, {}, 0);
  const Results expected = evaluate::evaluate(graph, arguments, evaluate::Arithmetic::strict, {7, 3});
  EXPECT_EQ(difference(run_lowered(graph, lowered, arguments), expected), std::nullopt);
}

// Each part of what stands side by side is read in its own columns alone, so nothing is computed again.
TEST(Kernels, ExpensivePartsAreComputedWhereTheyAreReadOnce) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {300, 96}), y = b.input("y", DType::f32, {300, 48});
  b.output(x + concat({sin(y), cos(y)}, 1));
  EXPECT_EQ(expect_same_bits(b.take()), 1U);
}

TEST(Kernels, ABarrierIsKept) {
  for (const bool barrier : {false, true}) {
    Builder b;
    const Tensor x = b.input("x", DType::f32, {30, 20});
    const Tensor e = barrier ? realize(exp(x)) : exp(x);
    b.output(sum(e, {1}));
    const Graph graph = b.take();
    EXPECT_EQ(expect_same_bits(graph), barrier ? 2U : 1U);
    const fuse::Fused fused = fuse::fuse(lower::lower(graph));
    if (barrier) {
      ASSERT_EQ(fused.refusals.size(), 1U);
      EXPECT_EQ(fused.refusals.front().reason, fuse::Reason::barrier);
    }
  }
}

TEST(Kernels, NothingStandsBetweenTwoThatAreFused) {
  // The total over everything needs the rows' kernel and is needed by the last: the ends cannot be one.
  Builder b;
  const Tensor x = b.input("x", DType::f32, {300, 200});
  const Tensor rows = softmax(x, 1);
  b.output(rows);
  b.output(rows * sum(rows, {}));
  const Graph graph = b.take();
  EXPECT_EQ(expect_same_bits(graph), 3U);
  const fuse::Fused fused = fuse::fuse(lower::lower(graph));
  const bool cycle = std::ranges::any_of(
      fused.refusals, [](const fuse::Refusal& refusal) { return refusal.reason == fuse::Reason::cycle; });
  EXPECT_TRUE(cycle);
}

TEST(Kernels, ASortIsAKernelOfItsOwn) {
  Builder b;
  const Tensor rows = b.input("rows", DType::i64, {200}), v = b.input("v", DType::f32, {200});
  b.output(scatter(b.constant(0.0, DType::f32, {13}), 0, rows, v, Mode::add) * 2.0);
  EXPECT_EQ(expect_same_bits(b.take(), {}, 13), 2U);
}

// Parts that load the same become one kernel, which still stores the buffer in parts.
TEST(Kernels, PartsOfOneInputAreNotTheWhole) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {2, 3}), y = b.input("y", DType::f32, {2, 5});
  const Tensor parts = concat({x, x, x, x, x, x}, 0);
  b.output(cast(parts, DType::f64));
  b.output(concat({reshape(parts, {2, 18}), y}, 1));
  expect_same_bits(b.take());
}

// Small parts share kernels of a bounded size, whether they are copied or computed on the way.
TEST(Kernels, ManyRowsAreWrittenByFew) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {1500, 8});
  std::vector<Tensor> rows, doubled;
  for (const Tensor& row : unbind(x, 0)) {
    rows.push_back(row);
    doubled.push_back(row * static_cast<double>(rows.size()));
  }
  b.output(stack(rows, 1));
  b.output(concat(doubled, 0));
  EXPECT_LE(expect_same_bits(b.take()), 50U);
}

// A total of all axes beside a copy that is walked as its input lies in memory.
TEST(Kernels, ATotalKeepsTheOrderOfItsLoops) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {5, 7, 3}), y = b.input("y", DType::f32, {5, 7, 3});
  b.output(ne(x, y));
  b.output(sum(tanh(x), {0, 1, 2}));
  const lower::Layouts layouts = {{0, {1, 5, 35}}, {1, {1, 5, 35}}};
  for (const lower::Unit& unit : fuse::fuse(lower::lower(b.take(), layouts)).lowered.units) {
    for (const loops::Item& item : loops::take_apart(unit.nest).items) {
      const auto* sibling = std::get_if<loops::Sibling>(&item);
      if (sibling == nullptr) continue;
      const auto facts = loops::facts_of(unit.nest);
      index::Expr place = 0;
      for (const loops::NestLoop& loop : sibling->loops) place = place * loop.extent + loop.axis;
      for (const loops::Ref<loops::Stmt>& stmt : sibling->inner) {
        const auto* total = std::get_if<loops::Accumulate>(&stmt->node);
        if (total == nullptr) continue;
        EXPECT_TRUE(facts.proves_equal(total->place, place)) << loops::print(unit.nest);
      }
    }
  }
}

// Totals and scans of the same elements share a kernel, never a loop: schedules walk the two differently.
TEST(Kernels, NoTotalStandsBesideAScan) {
  Builder b;
  const index::Symbol n("n");
  const Tensor x = b.input("x", DType::f64, {n});
  const Extreme lowest = cummin(x, 0);
  b.output(lowest.value);
  b.output(lowest.place);
  b.output(amax(relu(x), {0}));
  b.output(sum(x, {0}));
  b.output(sum(cumsum(x, 0), {0}));
  const Graph graph = b.take();
  expect_same_bits(graph, {{n, 2100}});
  for (const lower::Unit& unit : fuse::fuse(lower::lower(graph)).lowered.units) {
    for (const loops::Item& item : loops::take_apart(unit.nest).items) {
      const auto* sibling = std::get_if<loops::Sibling>(&item);
      if (sibling == nullptr) continue;
      const auto holds = [&]<class Kind>(const Kind*) {
        return std::ranges::any_of(sibling->inner, [](const loops::Ref<loops::Stmt>& stmt) {
          return std::holds_alternative<Kind>(stmt->node);
        });
      };
      EXPECT_FALSE(holds(static_cast<loops::Scan*>(nullptr)) &&
                   holds(static_cast<loops::Accumulate*>(nullptr)))
          << loops::print(unit.nest);
    }
  }
}

}  // namespace twinloom::tests
