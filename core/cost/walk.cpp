// See walk.h.
#include "core/cost/walk.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/cost/accumulators.h"
#include "core/cost/constants.h"
#include "core/cost/sample.h"
#include "core/index/divisors.h"
#include "core/loops/rewrite.h"
#include "core/ops/cost.h"

namespace twinloom::cost {

namespace {

using namespace constants;

// Calls add(division, its divisor) for each quotient and remainder in the expression.
template <class Add>
void for_each_division(const index::Expr& expr, const Add& add) {
  const auto inside = [&](const index::Expr& part) { for_each_division(part, add); };
  match(
      expr.form(),
      [&](const index::Sum& sum) {
        for (const auto& term : sum.terms) inside(term.factor);
      },
      [](const index::Symbol&) {},
      [&](const index::Product& product) {
        for (const auto& factor : product.factors) inside(factor);
      },
      [&](const index::FloorDiv& div) { inside(div.dividend), add(expr, div.divisor); },
      [&](const index::FloorMod& mod) { inside(mod.dividend), add(expr, mod.divisor); },
      [&](const index::Least& least) { inside(least.a), inside(least.b); },
      [&](const index::Greatest& most) { inside(most.a), inside(most.b); });
}

// A load, or a quotient, or a condition, of which equal ones are made once.
struct Made {
  std::optional<loops::Buffer> buffer;
  index::Expr expr;
  index::Condition mask;
  friend bool operator==(const Made&, const Made&) = default;
};
struct HashOfMade {
  std::size_t operator()(const Made& made) const {
    std::uint64_t hash = made.expr.hash() + (made.buffer ? made.buffer->index + 1 : 0);
    for (const index::Less& less : made.mask.all) hash = 31 * hash + less.a.hash() - 7 * less.b.hash();
    return hash;
  }
};

class Walker {
 public:
  Walker(const loops::Program& program, const machine::Machine& machine, const index::Values& sizes)
      : program_(program),
        has_threads_(machine.max_threads > 1),
        types_(program),
        values_(sizes),
        accumulators_(program, machine, walk_) {
    walk_.nodes.emplace_back();
    path_ = {0};
  }

  Walk walk() {
    walk_.outermost_fastest = program_.outermost_fastest;
    visit(*program_.body);
    for (const Loop& loop : walk_.loops)
      if (loop.bind == loops::Bind::block) walk_.blocks *= loop.extent;
    walk_.threads = walk_.threads_below(0);
    for (const loops::BufferInfo& buffer : program_.buffers)
      if (!buffer.local) walk_.argument_bytes += extent_of(buffer.count) * ops::size_of(buffer.dtype);
    return std::move(walk_);
  }

 private:
  Node& here() { return walk_.nodes[path_.back()]; }
  std::size_t depth() const { return path_.size() - 1; }

  void visit(const loops::Stmt& stmt) {
    types_.define(stmt);
    match(
        stmt,
        [&](const loops::Block& block) {
          for (const auto& inner : block.stmts) visit(*inner);
        },
        [&](const loops::Loop& loop) { enter(loop); },
        [&](const loops::Let& let) { depths_[let.temp] = add_value(let.value); },
        [&](const loops::Index& found) { find(found); },
        [&](const loops::Store& store) {
          const std::size_t before = walk_.accesses.size();
          add_value(store.value);
          if (is_read_before(store.buffer))
            for (std::size_t number = before; number < walk_.accesses.size(); ++number)
              walk_.accesses[number].of_next = true;
          add_access(store.buffer, store.offset, store.mask, true);
        },
        [&](const loops::Start& start) {
          depths_[start.total] = depth();
          accumulators_.begin(start, path_.back());
        },
        [&](const loops::Accumulate& step) { combine(step.total, step.values, {}); },
        [&](const loops::Scan& scan) {
          combine(scan.total, scan.values, {});
          depths_[scan.result] = depth();
        },
        [&](const loops::Merge& merge) {
          combine(merge.total, merge.values, merge.mask);
          walk_.has_products |= merge.product;
        },
        [&](const loops::Combine& combine) { accumulators_.exchange(combine, path_.back()); },
        [&](const loops::Push& push) { accumulators_.push(push, path_.back()); },
        [&](const loops::Fold& fold) {
          accumulators_.fold(fold);
          depths_[fold.result] = depth();
        },
        [&](const loops::Prefix& prefix) {
          depths_[prefix.before] = depths_[prefix.all] = depth();
          accumulators_.prefix(prefix, path_.back());
        },
        [&](const loops::Scratch& scratch) { declare(scratch); },
        [&](const loops::Prefetch& fetch) {
          if (fetch.count == 1) here().work.scalar += 1;
        },
        [&](const loops::Sync&) { ++here().barriers; },
        [&](const loops::LastBlock& last) { visit(*last.body); },
        [&](const loops::Call& call) { add_call(call); });
  }

  void enter(const loops::Loop& loop) {
    const double extent = extent_of(loop.extent);
    const std::size_t number = walk_.loops.size(), node = walk_.nodes.size();
    const double longest = longest_of(loop.extent, extent);
    walk_.loops.push_back({loop.axis, extent, loop.bind, node, longest});
    Node made;
    made.parent = path_.back();
    made.loop = number;
    walk_.nodes.push_back(std::move(made));
    here().children.push_back(node);
    path_.push_back(node);
    axis_depths_[loop.axis] = depth();
    loops_[loop.axis] = number;
    if (loop.bind == loops::Bind::serial) here().work.scalar += LOOP;
    const bool list = is_found(loop.extent);
    lists_ += list ? 1 : 0;
    if (longest > 0 || list) visit(*loop.body);
    lists_ -= list ? 1 : 0;
    path_.pop_back();
    axis_depths_.erase(loop.axis);
  }

  bool is_found(const index::Expr& extent) const {
    return std::ranges::any_of(found_values_,
                               [&](const auto& found) { return index::mentions(extent, found.first); });
  }
  // Where run-time values decide, half of the most there can be; between two of them with one bound as many
  // as there are if the loops around divide the whole. Where loops around do, the mean of some iterations.
  double extent_of(const index::Expr& extent) const {
    if (const auto known = index::constant_of(extent))
      return static_cast<double>(std::max<std::int64_t>(*known, 0));
    index::Values values = values_;
    std::vector<std::pair<index::Symbol, double>> around;
    for (const index::Symbol& symbol : index::symbols_of(extent)) {
      if (values.contains(symbol)) continue;
      if (const auto loop = loops_.find(symbol); loop != loops_.end())
        around.emplace_back(symbol, walk_.loops[loop->second].extent);
      else
        values[symbol] = found_values_.at(symbol);
    }
    double longest = 1;
    for (const auto& [symbol, of] : around) longest = std::max(longest, of);
    const int samples = static_cast<int>(std::min<double>(longest, MOST_BLOCKS_TRIED));
    double sum = 0;
    for (int sample = 0; sample < samples; ++sample) {
      for (const auto& [symbol, of] : around)
        values[symbol] = static_cast<std::int64_t>((sample + 0.5) * of / samples);
      sum += static_cast<double>(std::max<std::int64_t>(usual_value(extent, values), 0));
    }
    return sum / samples;
  }
  // Of the first and the last thread, where threads have other extents than each other.
  double longest_of(const index::Expr& extent, double mean) const {
    index::Values values = values_;
    std::map<index::Symbol, double> threads;
    for (const index::Symbol& symbol : index::symbols_of(extent)) {
      if (values.contains(symbol)) continue;
      const auto loop = loops_.find(symbol);
      if (loop == loops_.end()) return mean;
      const Loop& around = walk_.loops[loop->second];
      if (around.bind == loops::Bind::thread) threads[symbol] = around.extent;
      values[symbol] = static_cast<std::int64_t>(around.extent / 2);
    }
    double longest = mean;
    for (const double at : {0.0, 1.0}) {
      for (const auto& [symbol, of] : threads) values[symbol] = static_cast<std::int64_t>(at * (of - 1));
      if (!threads.empty()) longest = std::max(longest, static_cast<double>(usual_value(extent, values)));
    }
    return longest;
  }
  // Usual sizes are chosen one by one: where together they make a divisor that no run has, 1.
  static std::int64_t usual_value(const index::Expr& expr, const index::Values& values) {
    return index::bad_divisor(expr, values) ? 1 : index::evaluate(expr, values);
  }

  // The depth of the loop in which a value is computed; its work goes there, once for equal values.
  std::size_t add_value(const loops::Ref<loops::Value>& value) {
    if (const auto known = known_.find(value.get()); known != known_.end() && known->second <= depth())
      return known->second;
    std::size_t at = 0;
    match(
        *value, [](const loops::Literal&) {}, [&](const loops::Count& count) { at = depth_of(count.expr); },
        [&](const loops::Read& read) { at = depths_.contains(read.temp) ? depths_[read.temp] : depth(); },
        [&](const loops::Load& load) { at = add_load(load); },
        [&](const loops::Apply& apply) {
          for (const auto& input : apply.inputs) at = std::max(at, add_value(input));
          add_work(at, work_of(apply.op), types_.of(*value));
        },
        [&](const loops::Convert& convert) {
          at = add_value(convert.input);
          const ops::DType from = types_.of(*convert.input);
          const bool narrows = !has_threads_ && ops::size_of(from) == 8;
          add_work(at, work_of(from, convert.to), narrows ? from : convert.to);
        });
    known_[value.get()] = at;
    return at;
  }

  void add_work(std::size_t at, double work, ops::DType dtype) {
    walk_.nodes[path_[at]].work.vector += ops::size_of(dtype) == 8 ? 2 * work : work;
  }

  std::size_t add_load(const loops::Load& load) {
    std::size_t at = std::max(depth_of(load.offset), depth_of(load.mask));
    if (program_.buffers[load.buffer.index].local) {
      if (const std::size_t serial = serial_around(); serial != 0) read_in_[load.buffer] = serial;
      at = has_threads_ ? depth() : std::max(at, depth_below_written_out());
    }
    if (const auto level = made_at({load.buffer, load.offset, load.mask}, at)) return *level;
    add_access(load.buffer, load.offset, load.mask, false, at);
    return at;
  }

  // Whether this iteration of the serial loop around has read the array of registers, which then keeps what
  // is stored for the next one.
  bool is_read_before(loops::Buffer buffer) const {
    const auto place = places_.find(buffer);
    const auto read = read_in_.find(buffer);
    return place != places_.end() && place->second == loops::Place::registers && read != read_in_.end() &&
           read->second == serial_around();
  }
  std::size_t serial_around() const {
    for (std::size_t level = depth(); level > 0; --level)
      if (walk_.loops[*walk_.nodes[path_[level]].loop].bind == loops::Bind::serial) return path_[level];
    return 0;
  }

  // Of the innermost loop of a core that is neither written out nor one of vectors: what its iteration loads
  // of an array it loads once.
  std::size_t depth_below_written_out() const {
    std::size_t level = depth();
    const auto bind = [&] { return walk_.loops[*walk_.nodes[path_[level]].loop].bind; };
    while (level > 0 && (bind() == loops::Bind::unroll || bind() == loops::Bind::vector)) --level;
    return level;
  }

  std::size_t depth_of(const index::Expr& expr) const {
    std::size_t at = 0;
    index::any_symbol(expr, [&](const index::Symbol& symbol) {
      if (const auto found = axis_depths_.find(symbol); found != axis_depths_.end())
        at = std::max(at, found->second);
      return false;
    });
    return at;
  }
  std::size_t depth_of(const index::Condition& condition) const {
    std::size_t at = 0;
    for (const index::Less& less : condition.all) at = std::max({at, depth_of(less.a), depth_of(less.b)});
    return at;
  }

  // What equal expressions take is computed once, where the innermost loop that they mention stands.
  void add_once(const Made& made, double work) {
    const std::size_t at = std::max(depth_of(made.expr), depth_of(made.mask));
    if (made_at(made, at) || is_known_to_text(made.expr)) return;
    Node& node = walk_.nodes[path_[at]];
    // Lanes of a GPU are registers, each with an offset of its own where that is not linear; those of a core
    // have a quotient each.
    const bool each_lane = has_threads_ && node.loop && walk_.loops[*node.loop].bind == loops::Bind::vector;
    const bool apart = !has_threads_ && mentions_vector(made.expr);
    (each_lane ? node.work.vector : apart ? node.work.lane : node.work.scalar) += work;
    if (apart) node.work.apart += work;
  }
  bool mentions_vector(const index::Expr& expr) const {
    return index::any_symbol(expr,
                             [&](const index::Symbol& axis) { return bind_of(axis) == loops::Bind::vector; });
  }
  // Whether it mentions only what a core's text has written out: the compiler computes it.
  bool is_known_to_text(const index::Expr& expr) const {
    if (has_threads_ || !mentions_vector(expr)) return false;
    return !index::any_symbol(expr, [&](const index::Symbol& axis) {
      const auto bind = bind_of(axis);
      return bind != loops::Bind::vector && bind != loops::Bind::unroll;
    });
  }
  // Of the loop around over the axis; nothing of a size, or of what was found.
  std::optional<loops::Bind> bind_of(const index::Symbol& axis) const {
    for (const std::size_t node : path_)
      if (const auto& loop = walk_.nodes[node].loop; loop && walk_.loops[*loop].axis == axis)
        return walk_.loops[*loop].bind;
    return std::nullopt;
  }
  void add_divisions(const index::Expr& expr) {
    for_each_division(expr, [&](const index::Expr& division, const index::Expr& divisor) {
      add_once({{}, division, {}}, index::constant_of(divisor) ? DIVISION : UNKNOWN_DIVISION);
    });
  }
  // The depth of the loop around in which it is made already; else it is made at this depth from here on.
  std::optional<std::size_t> made_at(const Made& made, std::size_t at) {
    std::vector<std::size_t>& nodes = made_[made];
    for (std::size_t level = 0; level <= at; ++level)
      if (std::ranges::find(nodes, path_[level]) != nodes.end()) return level;
    nodes.push_back(path_[at]);
    return std::nullopt;
  }

  void add_access(loops::Buffer buffer, const index::Expr& offset, const index::Condition& mask, bool store) {
    add_access(buffer, offset, mask, store, depth());
  }
  void add_access(loops::Buffer buffer, const index::Expr& offset, const index::Condition& mask, bool store,
                  std::size_t at) {
    const loops::BufferInfo& info = program_.buffers[buffer.index];
    add_divisions(offset);
    for (const index::Less& less : mask.all) {
      add_divisions(less.b - less.a);
      add_once({{}, 0, {{less}}}, 1);
    }
    Access access;
    access.buffer = buffer;
    access.store = store;
    if (const auto place = places_.find(buffer); place != places_.end()) access.place = place->second;
    access.bytes = ops::size_of(info.dtype);
    access.streamed = info.streamed;
    access.node = path_[at];
    access.most_bytes = extent_of(info.count) * access.bytes;
    std::vector<Side> box;
    for (std::size_t level = 1; level <= at; ++level) {
      const Loop& loop = walk_.loops[*walk_.nodes[path_[level]].loop];
      box.push_back({loop.axis, std::llround(loop.extent)});
    }
    std::size_t found_at = 0;  // the loop in which a core finds it anew
    for (const auto& [symbol, most] : found_extents_) {
      if (!index::mentions(offset, symbol)) continue;
      access.found = true;
      if (has_threads_) access.found_by.merge(std::set(found_by_.at(symbol)));
      if (!has_threads_) found_at = std::max(found_at, axis_depths_.at(symbol));
    }
    access.listed = lists_ > 0;
    access.share = share_of(mask, box, values_);
    const Motion motion = motion_of(offset, box, values_);
    access.start = motion.start * access.bytes;
    for (std::size_t level = 1; level <= at; ++level) {
      double below = 1;
      const std::size_t loop = *walk_.nodes[path_[level]].loop;
      if (!access.listed && access.found_by.contains(loop)) {
        access.steps.push_back({loop, walk_.loops[loop].extent, 0, 1});
        continue;
      }
      for (const Digit& digit : motion.along[level - 1]) {
        access.steps.push_back({loop, digit.iterations, digit.stride * access.bytes, below});
        below *= digit.iterations;
      }
      if (level <= found_at && motion.along[level - 1].empty())
        access.steps.push_back({loop, walk_.loops[loop].extent, 0, 1});
    }
    walk_.nodes[path_[at]].accesses.push_back(walk_.accesses.size());
    walk_.accesses.push_back(std::move(access));
  }

  // Of the loops around. What a value reads that was computed before may change with each of those down to
  // `level`.
  std::set<std::size_t> loops_that_change(const loops::Value& value, std::size_t level) const {
    std::set<std::size_t> loops;
    const auto add = [&](const index::Expr& expr) {
      for (const index::Symbol& symbol : index::symbols_of(expr)) {
        if (const auto found = found_by_.find(symbol); found != found_by_.end())
          loops.insert(found->second.begin(), found->second.end());
        for (std::size_t around = 1; around <= depth(); ++around) {
          const std::size_t loop = *walk_.nodes[path_[around]].loop;
          if (walk_.loops[loop].axis == symbol) loops.insert(loop);
        }
      }
    };
    loops::for_each_value(value, [&](const loops::Value& part) {
      if (const auto* load = std::get_if<loops::Load>(&part.node)) add(load->offset);
      if (const auto* count = std::get_if<loops::Count>(&part.node)) add(count->expr);
      for (std::size_t at = 1; std::holds_alternative<loops::Read>(part.node) && at <= level; ++at)
        loops.insert(*walk_.nodes[path_[at]].loop);
    });
    return loops;
  }

  void find(const loops::Index& found) {
    const std::size_t at = add_value(found.value);
    if (has_threads_)
      here().work.scalar += INDEX;
    else
      walk_.nodes[path_[at]].work.lane += CHECKED;
    axis_depths_[found.symbol] = depth();
    found_by_[found.symbol] = loops_that_change(*found.value, at);
    index::Values values = values_;
    for (const index::Symbol& symbol : index::symbols_of(found.bound)) values.try_emplace(symbol, 1);
    const std::int64_t bound = std::max<std::int64_t>(usual_value(found.bound, values), 1);
    double turns = 1;
    for (std::size_t level = 1; level <= at; ++level)
      turns *= walk_.loops[*walk_.nodes[path_[level]].loop].extent;
    const auto earlier = std::ranges::count_if(found_extents_, [&](const auto& one) {
      return one.second == bound && axis_depths_.contains(one.first);
    });
    const double each = std::max(static_cast<double>(bound) / turns, 1.0);
    found_values_[found.symbol] = bound / 2 + std::llround(each * static_cast<double>(earlier));
    found_extents_[found.symbol] = bound;
  }

  void combine(loops::Temp total, const std::vector<loops::Ref<loops::Value>>& values,
               const index::Condition& mask) {
    for (const auto& value : values) add_value(value);
    here().work.scalar += static_cast<double>(mask.all.size());
    accumulators_.combine(total, path_.back());
  }

  void declare(const loops::Scratch& scratch) {
    places_[scratch.buffer] = scratch.place;
    const double bytes =
        extent_of(scratch.count) * ops::size_of(program_.buffers[scratch.buffer.index].dtype);
    if (scratch.place == loops::Place::registers) walk_.array_bytes += bytes;
    if (scratch.place == loops::Place::scratch) walk_.shared_bytes += bytes;
    visit(*scratch.body);
  }

  void add_call(const loops::Call& call) {
    for (const loops::Buffer& buffer : loops::made_by(call)) {
      const loops::BufferInfo& info = program_.buffers[buffer.index];
      walk_.call_bytes += extent_of(info.count) * ops::size_of(info.dtype);
    }
  }

  double work_of(ops::DType from, ops::DType to) const {
    return has_threads_ ? 1 : ops::conversion_cost(from, to);
  }
  // By the column of the machine's kind.
  double work_of(ops::Pointwise op) const { return has_threads_ ? ops::gpu_cost(op) : ops::cost(op); }
  const loops::Program& program_;
  const bool has_threads_;
  loops::Types types_;
  index::Values values_;
  Walk walk_;
  Accumulators accumulators_;
  std::vector<std::size_t> path_;                     // nodes from the root to here
  std::map<index::Symbol, std::size_t> axis_depths_;  // of loops around, and of what was found at run time
  std::map<index::Symbol, std::set<std::size_t>> found_by_;  // see Access
  int lists_ = 0;                                            // loops around that are as long as a list
  std::map<index::Symbol, std::size_t> loops_;        // the last loop over each axis
  std::map<index::Symbol, std::int64_t> found_extents_,
      found_values_;  // their bounds; what they are taken for
  std::map<loops::Temp, std::size_t> depths_;
  std::map<loops::Buffer, loops::Place> places_;
  std::map<loops::Buffer, std::size_t> read_in_;  // arrays, by the serial loop around their last load
  std::unordered_map<const loops::Value*, std::size_t> known_;
  std::unordered_map<Made, std::vector<std::size_t>, HashOfMade> made_;  // the nodes in which each is
};

}  // namespace

Walk walk_of(const loops::Program& program, const machine::Machine& machine, const index::Values& sizes) {
  return Walker(program, machine, sizes).walk();
}

}  // namespace twinloom::cost
