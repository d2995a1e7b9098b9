// See split.h.
#include "core/library_calls/split.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/error.h"
#include "core/loops/epilogue.h"
#include "core/loops/parts.h"
#include "core/loops/products.h"
#include "core/loops/rewrite.h"
#include "core/lower/draft.h"
#include "core/lower/realize.h"
#include "core/lower/transform.h"

namespace twinloom::library_calls {

namespace {

using loops::Nest, loops::NestLoop, loops::Ref, loops::Stmt;

// The total that a nest has, alone in it but for what every iteration does with it: what is looked up at run
// time is in no call.
struct Total {
  loops::Temp temp;
  ops::DType element;
  std::size_t start, sibling;  // items
};

std::optional<Total> only_total(const Nest& nest) {
  if (nest.columns) return std::nullopt;
  std::optional<Total> found;
  std::optional<std::size_t> start, sibling;
  for (std::size_t at = 0; at < nest.items.size(); ++at) {
    const auto* stmt = std::get_if<Ref<Stmt>>(&nest.items[at]);
    if (stmt != nullptr && std::holds_alternative<loops::Index>((*stmt)->node)) return std::nullopt;
    if (stmt == nullptr) {
      if (sibling) return std::nullopt;
      sibling = at;
    } else if (const auto* begun = std::get_if<loops::Start>(&(*stmt)->node)) {
      if (start) return std::nullopt;
      start = at;
      found = Total{begun->total, begun->element, at, 0};
    }
  }
  if (!start || !sibling) return std::nullopt;
  found->sibling = *sibling;
  return found;
}

loops::Program program_of(const Nest& nest) { return {"nest", {}, {}, put_together(nest)}; }

bool may_have_one(const loops::Program& nest) {
  return loops::routine_of(nest) == nullptr && !loops::has_parts(nest);
}

index::Expr offset_of(const lower::Value& value, const std::vector<NestLoop>& axes) {
  index::Expr offset = 0;
  for (std::size_t k = 0; k < axes.size(); ++k) offset = offset + value.strides[k] * axes[k].axis;
  return offset;
}

// Whether a value or a statement reads the total.
template <class Form>
bool reads(const Form& form, const Total& total) {
  bool found = false;
  loops::for_each_value(form, [&](const loops::Value& value) {
    const auto* read = std::get_if<loops::Read>(&value.node);
    found = found || (read != nullptr && read->temp == total.temp);
  });
  return found;
}

// What follows the sums, with another value in place of one.
std::vector<Ref<Stmt>> rest_with(const Nest& nest, const Total& total, const loops::Value& from,
                                 const Ref<loops::Value>& to) {
  std::vector<Ref<Stmt>> rest;
  for (std::size_t at = 0; at < nest.items.size(); ++at)
    if (at != total.start && at != total.sibling)
      rest.push_back(loops::rewrite_values(
          std::get<Ref<Stmt>>(nest.items[at]),
          [&](const Ref<loops::Value>& value) { return loops::equal(*value, from) ? to : value; }));
  return rest;
}

Ref<loops::Value> zero_of(ops::DType dtype) {
  return loops::literal(ops::cast(ops::Number(0), dtype), dtype);
}

// An integer of 8 bits that is made of the total, which nothing else reads: a quarter of its bytes.
Ref<loops::Value> narrow_end(const Nest& nest, const Total& total) {
  const Ref<loops::Value> itself = loops::read(total.temp);
  std::optional<loops::Convert> narrow;
  for (const Ref<Stmt>& stmt : rest_with(nest, total, *itself, itself))
    loops::for_each_value(*stmt,
                          [&](const loops::Value& value) {  // outermost first: the last is the innermost
                            const auto* convert = std::get_if<loops::Convert>(&value.node);
                            if (convert != nullptr && ops::is_integer(convert->to) &&
                                ops::bits_of(convert->to) == 8 && reads(value, total))
                              narrow = *convert;
                          });
  if (!narrow) return nullptr;
  const auto end = std::make_shared<const loops::Value>(loops::Value{*narrow});
  const auto rest = rest_with(nest, total, *end, zero_of(narrow->to));
  const bool is_all = std::ranges::none_of(rest, [&](const auto& stmt) { return reads(*stmt, total); });
  return is_all ? end : nullptr;
}

// The contraction of a nest, and what it is changed by, stored to a value of its own.
struct Call {
  Nest nest;
  Total total;
  Ref<loops::Value> stored;
  lower::Value value = {};
  std::vector<std::size_t> order = {};  // of the value's axes in memory
};

// Such calls, the best first. `nest` has its sums in any order and is no call as a whole; `into` is the
// buffer that such a value would be.
std::vector<Call> calls_in(const Nest& nest, loops::Buffer into) {
  const auto total = only_total(nest);
  if (!total || loops::contraction_of(program_of(nest))) return {};
  Call call{nest, *total, loops::read(total->temp)};
  call.value.dtype = total->element;
  for (const NestLoop& loop : nest.common) call.value.shape.push_back(loop.extent);
  call.value.count = index::product(call.value.shape);
  call.order.resize(nest.common.size());
  std::iota(call.order.begin(), call.order.end(), std::size_t{0});
  const auto lay_out = [&] {
    call.value.strides = lower::strides_in_order(call.value.shape, call.order);
    const index::Expr offset = offset_of(call.value, nest.common);
    call.nest.items = {nest.items[total->start], nest.items[total->sibling],
                       loops::stmt(loops::Store{into, offset, {}, call.stored})};
  };
  lay_out();
  const auto contraction = loops::contraction_of(program_of(call.nest));
  if (!contraction) return {};
  call.order = loops::result_order(*contraction);
  lay_out();
  std::vector<Call> calls{call};
  if (call.stored = narrow_end(nest, *total); call.stored != nullptr) {
    call.value.dtype = std::get<loops::Convert>(call.stored->node).to;
    lay_out();
    calls.insert(calls.begin(), std::move(call));
  }
  return calls;
}

class Splitter {
 public:
  Splitter(const lower::Lowered& lowered, const graph::Graph& graph, const IsWorth& is_worth)
      : graph_(graph), is_worth_(is_worth), names_(lower::taken_symbols(lowered)) {
    split_.lowered.values = lowered.values;
    split_.lowered.facts = lowered.facts;
  }

  void add(const lower::Unit& unit) {
    if (!add_parts_of(unit)) split_.lowered.units.push_back(unit);
    split_.moved.push_back(split_.lowered.units.size() - 1);
  }

  Split take() {
    lower::name_kernels(split_.lowered);
    return std::move(split_);
  }

 private:
  bool add_parts_of(const lower::Unit& unit) {
    if (!may_have_one(unit.nest)) return false;
    const lower::Draft draft = lower::open(unit, names_);
    const loops::Buffer into{static_cast<std::uint32_t>(split_.lowered.values.size())};
    const Nest nest = loops::with_free_sums(draft.nest);
    if (only_total(nest) && add_library({nest, draft.nodes})) return true;
    const auto [sums, others] = nodes_of(unit);
    for (Call& call : calls_in(nest, into)) {
      call.value.name = cat("product", into.index);
      call.value.node = unit.nodes.back();
      split_.lowered.values.push_back(call.value);
      if (add_library({call.nest, sums})) {
        split_.lowered.units.push_back(lower::finish({rest_of(nest, call, into), others}, split_.lowered));
        return true;
      }
      split_.lowered.values.pop_back();
    }
    return false;
  }

  bool add_library(const lower::Draft& draft) {
    lower::Unit unit = lower::packed(draft.nest, draft.nodes, split_.lowered);
    if (!loops::contraction_call_of(unit.nest) || !is_worth_(unit.nest)) return false;
    unit.nest.library = true;
    split_.lowered.units.push_back(std::move(unit));
    return true;
  }

  // Its loops in the order of the memory that it reads.
  static Nest rest_of(const Nest& nest, const Call& call, loops::Buffer from) {
    const index::Expr offset = offset_of(call.value, nest.common);
    const auto loaded =
        loops::load(from, offset, {}, {ops::cast(ops::Number(0), call.value.dtype), call.value.dtype});
    Nest rest;
    for (const std::size_t at : call.order) rest.common.push_back(nest.common[at]);
    for (const Ref<Stmt>& stmt : rest_with(nest, call.total, *call.stored, loaded))
      rest.items.emplace_back(stmt);
    return rest;
  }

  // The sums, and all else.
  std::pair<std::vector<graph::NodeId>, std::vector<graph::NodeId>> nodes_of(const lower::Unit& unit) const {
    std::pair<std::vector<graph::NodeId>, std::vector<graph::NodeId>> nodes;
    for (const graph::NodeId node : unit.nodes)
      (std::holds_alternative<graph::Reduce>(graph_[node].node) ? nodes.first : nodes.second).push_back(node);
    return nodes;
  }

  const graph::Graph& graph_;
  const IsWorth& is_worth_;
  lower::Names names_;
  Split split_;
};

}  // namespace

bool has_products(const graph::Graph& graph, double least) {
  return std::ranges::any_of(graph.nodes(), [&](const graph::Node& sum) {
    const auto products = graph::summed_products(graph, sum);
    return products &&
           lower::typical_count(graph[*products].shape, lower::RealizeLimits().typical_size) >= least;
  });
}

double products_of(const loops::Program& nest) {
  const auto call = loops::contraction_call_of(nest);
  CHECK(call, "kernel ", nest.name, " is no contraction");
  graph::Shape extents;
  for (const auto* axes : {&call->contraction.kept, &call->contraction.summed})
    for (const loops::Contraction::Axis& axis : *axes) extents.push_back(axis.extent);
  return lower::typical_count(extents, lower::RealizeLimits().typical_size);
}

loops::Program sample_product(ops::DType type) {
  const std::string_view name = ops::name(type), sums = ops::is_integer(type) ? "i32" : "f32";
  return loops::parse(cat("program sample(a: ", name, "[4096], b: ", name, "[4096], y: written ", sums,
                          "[4096]) library { for i < 64 { for j < 64 { start t0 : sum ", sums,
                          " free for k < 64 { "
                          "t0 += mul(",
                          sums, "(a[64*i + k]), ", sums, "(b[64*k + j])) at k } y[64*i + j] = t0 } } }"));
}

loops::Program sample_convolution() {
  return loops::parse(
      "program sample(a: f32[2592], b: f32[2304], y: written f32[784]) library { for h < 7 { for w < 7 { for "
      "o < 16 { start t0 : sum f32 free for r < 3 { for s < 3 { for k < 16 { t0 += mul(a[144*h + 144*r + "
      "16*w + 16*s + k], b[48*r + 16*s + 144*o + k]) at 48*r + 16*s + k } } } y[112*h + 16*w + o] = t0 } } } "
      "}");
}

bool takes(const loops::Program& nest, const IsWorth& is_worth) {
  if (!may_have_one(nest)) return false;
  const Nest apart = loops::with_free_sums(lower::without_lets(loops::take_apart(nest)));
  loops::Program program = nest;
  program.body = put_together(apart);
  if (loops::contraction_call_of(program) && is_worth(program)) return true;
  const auto calls = calls_in(apart, loops::Buffer{static_cast<std::uint32_t>(nest.buffers.size())});
  if (calls.empty()) return false;
  const Call& call = calls.back();
  program.body = put_together(call.nest);
  program.buffers.push_back(
      {.name = "product", .dtype = call.value.dtype, .count = call.value.count, .written = true});
  return is_worth(program);
}

Split split(const lower::Lowered& lowered, const graph::Graph& graph, const IsWorth& is_worth) {
  Splitter splitter(lowered, graph, is_worth);
  for (const lower::Unit& unit : lowered.units) splitter.add(unit);
  return splitter.take();
}

}  // namespace twinloom::library_calls
