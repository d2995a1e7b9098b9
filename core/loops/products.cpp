// See products.h.
#include "core/loops/products.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace twinloom::loops {

namespace {

using Walked = Contraction::Axis;  // an axis as each buffer walks it
using Axes = std::vector<Walked>;
using Numbers = std::vector<std::size_t>;
Walked no_axis() { return {1, 0, 0, 0}; }

std::int64_t known_or_zero(const index::Expr& expr) { return index::constant_of(expr).value_or(0); }

Axes picked(const Axes& axes, const Numbers& numbers) {
  Axes result;
  for (const std::size_t number : numbers) result.push_back(axes[number]);
  return result;
}

// Outermost in memory first.
void sort_by(Axes& axes, index::Expr Walked::*step) {
  std::ranges::stable_sort(axes, std::ranges::greater{},
                           [&](const Walked& axis) { return std::abs(known_or_zero(axis.*step)); });
}

std::optional<Walked> merged_by(Axes axes, index::Expr Walked::*step) {
  if (axes.empty()) return no_axis();
  sort_by(axes, step);
  return merged(axes);
}

// The innermost axes that are one; the others join the batch.
Walked take_merged(Axes axes, index::Expr Walked::*step, Axes& batch) {
  sort_by(axes, step);
  Axes together;
  while (!axes.empty()) {
    Axes longer = together;
    longer.insert(longer.begin(), axes.back());
    if (!merged(longer)) break;
    together = std::move(longer);
    axes.pop_back();
  }
  batch.insert(batch.end(), axes.begin(), axes.end());
  return *merged(together);
}

// A contraction whose axes are shared out among what a convolution has.
class Shares {
 public:
  explicit Shares(const Contraction& contraction) : windows_(contraction.windows), of_(contraction) {
    for (std::size_t k = 0; k < of_.summed.size(); ++k)
      if (!has_window(k, &Contraction::Window::summed)) inputs_.push_back(k);
    for (std::size_t k = 0; k < of_.kept.size(); ++k) {
      const bool left = of_.kept[k].left != 0, right = of_.kept[k].right != 0;
      if (has_window(k, &Contraction::Window::kept)) {
        windowed_groups_ = windowed_groups_ || right;
        continue;
      }
      (left && right ? groups_ : left ? batch_ : results_).push_back(k);
    }
  }

  std::optional<Convolution> convolution() {
    if (windowed_groups_) return std::nullopt;
    while ((!merged_by(picked(of_.summed, inputs_), &Walked::right) || overlap()) && add_window_of_sums()) {
    }
    while ((!merged_by(picked(of_.kept, batch_), &Walked::left) || lies_in_window()) &&
           add_window_of_results()) {
    }
    if (windows_.empty()) add_window_of_results();
    const auto inputs = merged_by(picked(of_.summed, inputs_), &Walked::right),
               batch = merged_by(picked(of_.kept, batch_), &Walked::left),
               groups = merged_by(picked(of_.kept, groups_), &Walked::left),
               results = merged_by(picked(of_.kept, results_), &Walked::right);
    constexpr std::size_t MOST = 3;
    if (!inputs || !batch || !groups || !results || windows_.empty() || windows_.size() > MOST)
      return std::nullopt;
    Convolution made{*batch, *groups, *results, *inputs, {}, begin_};
    std::ranges::stable_sort(windows_, std::ranges::greater{},
                             [](const Contraction::Window& window) { return known_or_zero(window.step); });
    for (const Contraction::Window& window : windows_)
      if (!add_dimension(window, made)) return std::nullopt;
    return made;
  }

 private:
  bool has_window(std::size_t axis, std::optional<std::size_t> Contraction::Window::*which) const {
    return std::ranges::any_of(windows_, [&](const auto& window) { return window.*which == axis; });
  }

  // Whether what is summed up for one result is in part what is summed up for the next one.
  bool overlap() const {
    return std::ranges::any_of(inputs_, [&](std::size_t k) {
      const std::int64_t step = known_or_zero(of_.summed[k].left),
                         extent = known_or_zero(of_.summed[k].extent);
      return std::ranges::any_of(batch_, [&](std::size_t b) {
        const std::int64_t apart = known_or_zero(of_.kept[b].left);
        return apart > 0 && apart < step * extent && step < apart * known_or_zero(of_.kept[b].extent);
      });
    });
  }

  // Whether one of the batch's axes lies inside of a dimension that windows walk, as an image's columns where
  // they walk its rows alone.
  bool lies_in_window() const {
    return std::ranges::any_of(batch_, [&](std::size_t k) {
      const std::int64_t step = known_or_zero(of_.kept[k].left);
      return known_or_zero(of_.kept[k].extent) > 1 && std::ranges::any_of(windows_, [&](const auto& window) {
               return step < known_or_zero(window.step);
             });
    });
  }

  // The kept axis with the widest steps whose windows along a summed one overlap or touch.
  std::optional<std::size_t> axis_beside(std::size_t summed) const {
    const std::int64_t step = known_or_zero(of_.summed[summed].left),
                       reach = step * known_or_zero(of_.summed[summed].extent);
    std::optional<std::size_t> beside;
    for (const std::size_t k : batch_) {
      const std::int64_t apart = known_or_zero(of_.kept[k].left);
      if (apart > 0 && apart <= reach && (!beside || apart > known_or_zero(of_.kept[*beside].left)))
        beside = k;
    }
    return step > 0 ? beside : std::nullopt;
  }

  // A summed axis beside a kept one: the innermost that steps into the next window and does not reach its
  // end, as channels of neighbours touch where windows of columns overlap; else the innermost.
  bool add_window_of_sums() {
    if (inputs_.empty()) return false;
    std::ranges::stable_sort(inputs_, {}, [&](std::size_t k) { return known_or_zero(of_.summed[k].left); });
    const auto overlaps = [&](std::size_t summed) {
      const auto beside = axis_beside(summed);
      const std::int64_t step = known_or_zero(of_.summed[summed].left);
      const std::int64_t apart = beside ? known_or_zero(of_.kept[*beside].left) : 0;
      return beside && step <= apart && apart < step * known_or_zero(of_.summed[summed].extent);
    };
    const auto found = std::ranges::find_if(inputs_, overlaps);
    const std::size_t summed = found == inputs_.end() ? inputs_.front() : *found;
    const auto beside = axis_beside(summed);
    if (!beside) return false;
    add_window_of(*beside, summed);
    return true;
  }

  void add_window_of(std::size_t kept, std::size_t summed) {
    const std::int64_t apart = known_or_zero(of_.kept[kept].left),
                       by = known_or_zero(of_.summed[summed].left), unit = std::gcd(apart, by);
    Contraction::Window window{kept, summed, apart / unit, by / unit, 0, 0, unit};
    window.extent = window.by_kept * (known_or_zero(of_.kept[kept].extent) - 1) +
                    window.by_summed * (known_or_zero(of_.summed[summed].extent) - 1) + 1;
    windows_.push_back(window);
    std::erase(batch_, kept);
    std::erase(inputs_, summed);
  }

  // One of the batch's axes, the innermost, as a dimension with one tap.
  bool add_window_of_results() {
    const auto step = [&](std::size_t k) { return known_or_zero(of_.kept[k].left); };
    const auto found = std::ranges::min_element(batch_, {}, step);
    if (found == batch_.end() || step(*found) <= 0) return false;
    const std::int64_t extent = known_or_zero(of_.kept[*found].extent);
    windows_.push_back({*found, std::nullopt, 1, 1, 0, extent, step(*found)});
    batch_.erase(found);
    return true;
  }

  bool add_dimension(const Contraction::Window& window, Convolution& made) const {
    Convolution::Dimension dimension;
    dimension.extent = known_or_zero(window.extent), dimension.step = known_or_zero(window.step);
    dimension.before = window.before;
    if (window.kept) {
      const Walked& axis = of_.kept[*window.kept];
      dimension.results = known_or_zero(axis.extent), dimension.out_step = known_or_zero(axis.out);
      for (const index::Expr& step : axis.operands) dimension.operand_steps.push_back(known_or_zero(step));
      dimension.stride = window.by_kept;
    }
    if (window.summed) {
      const Walked& axis = of_.summed[*window.summed];
      dimension.taps = known_or_zero(axis.extent), dimension.right_step = known_or_zero(axis.right);
      dimension.dilation = window.by_summed;
    }
    if (dimension.before < 0) {  // what lies before the first element that is read
      made.left_begin -= dimension.before * dimension.step;
      dimension.extent += dimension.before;
      dimension.before = 0;
    }
    if (-dimension.after() >= dimension.stride)
      dimension.extent += dimension.after();  // and behind the last one
    made.dimensions.push_back(dimension);
    return dimension.results > 0 && dimension.taps > 0 && dimension.extent > 0 && dimension.out_step >= 0 &&
           dimension.right_step >= 0;
  }

  std::vector<Contraction::Window> windows_;
  const Contraction& of_;
  Numbers batch_, groups_, results_, inputs_;
  bool windowed_groups_ = false;
  std::int64_t begin_ = 0;
};

bool has_known_sizes(const Contraction& contraction) {
  const auto is_step = [](const index::Expr& expr) {
    const auto value = index::constant_of(expr);
    return value && *value >= 0;
  };
  const auto is_known_window = [&](const Contraction::Window& window) {
    return index::constant_of(window.extent) && is_step(window.step);
  };
  const auto is_known = [&](const Walked& axis) {
    return std::ranges::all_of(std::array{axis.extent, axis.out, axis.left, axis.right}, is_step) &&
           std::ranges::all_of(axis.operands, is_step);
  };
  return std::ranges::all_of(contraction.kept, is_known) &&
         std::ranges::all_of(contraction.summed, is_known) &&
         std::ranges::all_of(contraction.windows, is_known_window);
}

// For orders alone: of a size that only a run knows, one that is usual.
std::int64_t usual(const index::Expr& expr) {
  constexpr std::int64_t USUAL_SIZE = 61;
  index::Substitution sizes;
  for (const index::Symbol symbol : index::symbols_of(expr)) sizes.emplace(symbol, USUAL_SIZE);
  return known_or_zero(index::substitute(expr, sizes));
}

}  // namespace

std::optional<MatrixProduct> matrix_product_of(const Contraction& contraction) {
  if (!contraction.windows.empty()) return std::nullopt;
  const auto depth = merged_by(contraction.summed, &Walked::right);
  if (!depth) return std::nullopt;
  MatrixProduct product{{}, no_axis(), no_axis(), *depth};
  Axes rows, columns;
  for (const Walked& axis : contraction.kept)
    (axis.right == 0 ? rows : axis.left == 0 ? columns : product.batch).push_back(axis);
  product.rows = take_merged(rows, &Walked::left, product.batch);
  product.columns = take_merged(columns, &Walked::right, product.batch);
  return product;
}

std::optional<Convolution> convolution_of(const Contraction& contraction) {
  return has_known_sizes(contraction) ? Shares(contraction).convolution() : std::nullopt;
}

namespace {

// Batch, dimensions of the image as `left` has them, groups, results. An axis inside of a dimension that
// windows walk is one too: columns, where windows are of rows.
Numbers result_order_of_windows(const Contraction& contraction, Numbers order) {
  std::vector<std::int64_t> steps;
  std::int64_t widest = 0;
  for (const Walked& axis : contraction.kept) steps.push_back(usual(axis.left));
  std::vector<bool> walked(steps.size());
  for (const Contraction::Window& window : contraction.windows) {
    widest = std::max(widest, usual(window.step));
    if (!window.kept) continue;
    walked[*window.kept] = true;
    steps[*window.kept] = usual(window.step);
  }
  const auto place = [&](std::size_t at) -> std::pair<int, std::int64_t> {
    const Walked& axis = contraction.kept[at];
    if (walked[at] || (axis.left != 0 && axis.right == 0 && steps[at] < widest)) return {1, -steps[at]};
    if (axis.right == 0) return {0, 0};
    return {axis.left == 0 ? 3 : 2, 0};
  };
  std::ranges::stable_sort(order, {}, place);
  return order;
}

}  // namespace

std::vector<std::size_t> result_order(const Contraction& contraction) {
  const Axes& kept = contraction.kept;
  Numbers order(kept.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!contraction.windows.empty()) return result_order_of_windows(contraction, std::move(order));
  const auto has = [&](index::Expr Walked::*step) {
    return std::ranges::count_if(kept, [&](const Walked& axis) { return axis.*step != 0; });
  };
  const auto step = has(&Walked::left) >= has(&Walked::right) ? &Walked::left : &Walked::right;
  const auto is_least = [&](const Walked& summed) {
    return std::ranges::all_of(kept, [&](const Walked& axis) {
      return axis.*step == 0 || (usual(summed.*step) > 0 && usual(summed.*step) < usual(axis.*step));
    });
  };
  if (!std::ranges::any_of(contraction.summed, is_least)) return order;
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t at) { return usual(kept[at].*step); });
  return order;
}

Contraction swapped(const Contraction& contraction) {
  Contraction result = contraction;
  std::swap(result.left, result.right);
  std::swap(result.left_begin, result.right_begin);
  std::swap(result.left_zero, result.right_zero);
  for (Axes* axes : {&result.kept, &result.summed})
    for (Walked& axis : *axes) std::swap(axis.left, axis.right);
  return result;
}

Copied with_left_copied(const Contraction& contraction) {
  Copied copied{contraction, {}};
  std::vector<Walked*> axes;
  for (Walked& axis : copied.contraction.kept)
    if (axis.left != 0) axes.push_back(&axis);
  // In the order in which the other factor has them, so that they are one axis there too.
  Axes& summed = copied.contraction.summed;
  sort_by(summed, &Walked::right);
  for (Walked& axis : summed) axes.push_back(&axis);
  index::Expr step = 1;
  for (std::size_t at = axes.size(); at-- > 0;) {
    copied.axes.insert(copied.axes.begin(), {axes[at]->extent, axes[at]->left, step});
    axes[at]->left = step;
    step = step * axes[at]->extent;
  }
  copied.contraction.left_begin = 0;
  return copied;
}

}  // namespace twinloom::loops
