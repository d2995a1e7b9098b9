// See calls.h.
#include "tests/fuzz/calls.h"

#include <array>
#include <limits>

#include "core/base/error.h"
#include "core/graph/builder.h"
#include "core/graph/composites.h"
#include "core/graph/indexing.h"
#include "core/graph/reductions.h"
#include "core/graph/sorting.h"
#include "core/graph/views.h"
#include "tests/conformance/random.h"

namespace twinloom::tests {

namespace {

using graph::Shape;
using graph::Tensor;
using index::Expr;
using ops::DType;

class Caller {
 public:
  explicit Caller(std::uint64_t seed) : random_(seed) {
    pool_.push_back(builder_.input("x", DType::f32, {n_, 4}));
    pool_.push_back(builder_.input("y", DType::f32, {3, 5}));
    pool_.push_back(builder_.input("z", DType::i32, {m_, n_}));
    pool_.push_back(builder_.input("at", DType::i64, {n_}));
    pool_.push_back(builder_.input("flag", DType::b8, {2, 3, 2}));
    builder_.size_parameter("k", k_);
  }

  Called run() {
    Called result;
    const std::int64_t calls = random_.between(1, 8);
    for (std::int64_t call = 0; call < calls; ++call) {
      try {
        pool_.push_back(once());
        ++result.accepted;
      } catch (const Error&) {
        ++result.refused;
      }
    }
    for (std::size_t k = pool_.size(); k-- > 5;) builder_.output(pool_[k], "result");
    result.graph = builder_.take();
    return result;
  }

 private:
  const Tensor& any() { return random_.pick(pool_); }
  std::int64_t number() {
    constexpr std::array<std::int64_t, 10> absurd = {1000,
                                                     -1000,
                                                     std::int64_t{1} << 31,
                                                     -(std::int64_t{1} << 31),
                                                     std::int64_t{1} << 40,
                                                     std::int64_t{1} << 61,
                                                     std::int64_t{1} << 62,
                                                     std::numeric_limits<std::int64_t>::max(),
                                                     std::numeric_limits<std::int64_t>::min(),
                                                     4294967296};
    return random_.chance(8) ? random_.pick(absurd) : random_.between(-2, 6);
  }
  int axis() {
    return static_cast<int>(random_.chance(90) ? random_.between(-2, 2) : random_.between(-70, 70));
  }
  // An expression of sizes.
  Expr size() {
    if (random_.chance(60)) return number();
    const std::array<Expr, 4> symbols = {n_, m_, k_, n_ * m_};
    Expr expr = random_.pick(symbols);
    if (random_.chance(30)) expr = expr + number();
    if (random_.chance(15)) expr = expr * Expr(number());
    if (random_.chance(15)) expr = index::floor_div(expr, random_.chance(50) ? Expr(number()) : Expr(m_) - 2);
    if (random_.chance(10)) expr = index::least(expr, random_.pick(symbols));
    return expr;
  }
  std::vector<Expr> sizes(std::int64_t most = 4) {
    std::vector<Expr> list;
    for (std::int64_t k = random_.below(most + 1); k > 0; --k) list.push_back(size());
    return list;
  }
  std::vector<Expr> sizes_of_rank(std::size_t rank) {
    std::vector<Expr> list;
    for (std::size_t k = 0; k < rank; ++k) list.push_back(size());
    return list;
  }
  // Over symbols and sizes, as a text or a caller could write it.
  Expr place(const std::vector<index::Symbol>& symbols) {
    Expr expr = symbols.empty() || random_.chance(20) ? size() : Expr(random_.pick(symbols));
    for (int k = 0; k < 3; ++k) {
      if (random_.chance(25)) expr = expr + (symbols.empty() ? Expr(number()) : Expr(random_.pick(symbols)));
      if (random_.chance(25)) expr = expr + size();
      if (random_.chance(15)) expr = expr * (random_.chance(80) ? Expr(number()) : size());
      if (random_.chance(15)) expr = index::floor_div(expr, random_.chance(60) ? Expr(number()) : size());
      if (random_.chance(15)) expr = index::floor_mod(expr, random_.chance(60) ? Expr(number()) : size());
      if (random_.chance(10)) expr = index::least(expr, size() - 1);
      if (random_.chance(10)) expr = index::greatest(expr, 0);
    }
    return expr;
  }
  // The place along an axis of x, mostly one that could be right.
  std::vector<Expr> places(const Tensor& x, const std::vector<index::Symbol>& symbols) {
    std::vector<Expr> list;
    for (const Expr& extent : x.shape()) {
      Expr expr = place(symbols);
      if (random_.chance(30) && extent != Expr(0)) expr = index::floor_mod(expr, extent);
      if (random_.chance(30)) expr = index::greatest(0, index::least(expr, extent - 1));
      list.push_back(expr);
    }
    if (random_.chance(3)) list.push_back(0);
    return list;
  }

  Tensor raw_view() {
    const Tensor x = any();
    graph::View map;
    map.sizes = random_.chance(60) ? x.shape() : Shape(sizes());
    for (std::size_t k = 0; k < map.sizes.size(); ++k)
      map.axes.push_back(random_.chance(95) ? graph::axis_symbol(static_cast<int>(k)) : index::Symbol("n"));
    map.source = places(x, map.axes);
    while (random_.chance(40)) {
      const Expr left = place(map.axes), right = size();
      map.inside.all.push_back(random_.chance(50) ? index::Less{left, right} : index::Less{right, left});
    }
    if (random_.chance(30)) {
      for (std::size_t k = 0; k < map.source.size() && k < static_cast<std::size_t>(x.rank()); ++k) {
        map.inside.all.push_back({-1, map.source[k]});
        map.inside.all.push_back({map.source[k], x.shape()[k]});
      }
    }
    map.fill = 7;
    if (random_.chance(50)) return graph::view(x, std::move(map));
    return builder_.add(std::move(map), {x});
  }

  Tensor indices(const Shape& shape) {
    if (random_.chance(30)) return any();
    return graph::cast(graph::expand(builder_.size(size()), shape),
                       random_.chance(90) ? DType::i64 : DType::i16);
  }

  Tensor raw_gather() {
    const Tensor x = any();
    graph::Gather gather;
    gather.sizes = random_.chance(50) ? x.shape() : Shape(sizes(3));
    for (std::size_t k = 0; k < gather.sizes.size(); ++k)
      gather.axes.push_back(graph::axis_symbol(static_cast<int>(k)));
    std::vector<index::Symbol> symbols = gather.axes;
    std::vector<Tensor> inputs{x};
    for (std::int64_t k = random_.below(3); k > 0; --k) {
      gather.found.push_back(graph::found_symbol(static_cast<int>(gather.found.size())));
      gather.bounds.push_back(random_.chance(70) && x.rank() > 0 ? random_.pick(x.shape()) : size());
      symbols.push_back(gather.found.back());
      inputs.push_back(indices(gather.sizes));
    }
    gather.source = places(x, symbols);
    gather.negative_wraps = random_.chance(50);
    return builder_.add(std::move(gather), inputs);
  }

  Tensor raw_scatter() {
    const Tensor x = any();
    graph::Scatter scatter{};
    const Shape shape = random_.chance(50) ? x.shape() : Shape(sizes(3));
    for (std::size_t k = 0; k < shape.size(); ++k)
      scatter.axes.push_back(graph::axis_symbol(static_cast<int>(k)));
    std::vector<index::Symbol> symbols = scatter.axes;
    std::vector<Tensor> inputs{x, graph::expand(builder_.constant(1, x.dtype()), shape)};
    for (std::int64_t k = random_.below(3); k > 0; --k) {
      scatter.found.push_back(graph::found_symbol(static_cast<int>(scatter.found.size())));
      scatter.bounds.push_back(random_.chance(70) && x.rank() > 0 ? random_.pick(x.shape()) : size());
      symbols.push_back(scatter.found.back());
      inputs.push_back(indices(shape));
    }
    scatter.place = places(x, symbols);
    scatter.mode = static_cast<graph::Mode>(random_.below(5));
    scatter.include_self = random_.chance(50);
    scatter.negative_wraps = random_.chance(50);
    return builder_.add(std::move(scatter), inputs);
  }

  Tensor one_of(const std::vector<Tensor>& tensors) {
    return tensors.empty() ? any() : random_.pick(tensors);
  }

  Tensor movement() {
    const Tensor x = any();
    const auto rank = static_cast<std::size_t>(x.rank());
    switch (random_.below(20)) {
      case 0:
        return graph::as_strided(x, sizes(3), sizes(3), size());
      case 1: {
        const auto list = sizes(3);
        return graph::as_strided(x, list, sizes_of_rank(list.size()), size());
      }
      case 2:
        return graph::reshape(x, sizes());
      case 3:
        return graph::slice(x, axis(), size(), size(), size());
      case 4:
        return graph::slice_exact(x, axis(), size(), size(), size());
      case 5:
        return graph::select(x, axis(), size());
      case 6: {
        std::vector<graph::Padding> padding;
        for (std::size_t k = 0; k < rank; ++k) padding.push_back({size(), size()});
        return graph::pad(x, padding, 3);
      }
      case 7:
        return graph::unfold(x, axis(), size(), size());
      case 8:
        return graph::expand(x, sizes());
      case 9:
        return graph::repeat(x, sizes());
      case 10:
        return graph::repeat_interleave(x, axis(), size());
      case 11:
        return graph::roll(x, sizes(2), {axis()});
      case 12:
        return graph::diagonal(x, static_cast<int>(number()), axis(), axis());
      case 13:
        return graph::flip(x, {axis()});
      case 14:
        return graph::permute(x, {axis(), axis()});
      case 15:
        return graph::tril(x, size());
      case 16:
        return one_of(graph::split(x, sizes(3), axis()));
      case 17:
        return one_of(random_.chance(50) ? graph::unbind(x, axis()) : graph::chunk(x, number(), axis()));
      case 18:
        return one_of(graph::split_every(x, number(), axis()));
      default:
        return graph::squeeze(graph::unsqueeze(x, axis()), {axis()});
    }
  }

  Tensor places_of_data() {
    const Tensor x = any();
    switch (random_.below(8)) {
      case 0:
        return graph::take(x, axis(), any());
      case 1:
        return graph::take_along(x, axis(), any(), graph::Negative::wraps);
      case 2:
        return graph::index(x, {any()});
      case 3:
        return graph::index_put(x, {any()}, any(), graph::Mode::add);
      case 4:
        return graph::scatter(x, axis(), any(), any(), graph::Mode::greatest);
      case 5:
        return graph::slice_scatter(x, any(), axis(), size(), size(), size());
      case 6:
        return graph::select_scatter(x, any(), axis(), size());
      default:
        return graph::one_hot(any(), size(), DType::f32);
    }
  }

  Tensor other() {
    const Tensor x = any();
    switch (random_.below(10)) {
      case 0:
        return graph::add(x, any());
      case 1:
        return graph::concat({x, any()}, axis());
      case 2:
        return graph::sum(x, {axis()});
      case 3:
        return graph::amax(x, {axis()});
      case 4:
        return graph::cumsum(x, axis());
      case 5:
        return builder_.iota(sizes(3), axis());
      case 6:
        return builder_.constant(2, DType::f32, sizes(3));
      case 7:
        return graph::argsort(x, axis());
      case 8:
        return graph::top(x, size(), axis()).values;
      default:
        return graph::stack({x, x}, axis());
    }
  }

  Tensor once() {
    const std::int64_t kind = random_.below(10);
    if (kind < 3) return raw_view();
    if (kind == 3) return raw_gather();
    if (kind == 4) return raw_scatter();
    if (kind < 8) return movement();
    return kind == 8 ? places_of_data() : other();
  }

  Random random_;
  graph::Builder builder_{"calls"};
  Expr n_ = index::Symbol("n"), m_ = index::Symbol("m"), k_ = index::Symbol("k");
  std::vector<Tensor> pool_;
};

}  // namespace

Called called(std::uint64_t seed) { return Caller(seed).run(); }

}  // namespace twinloom::tests
