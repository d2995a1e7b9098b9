// Statements as actions over the interpreter's state, and the run. See interpret.h.
#include "core/loops/interpret.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "core/loops/lines.h"
#include "core/loops/printed.h"
#include "core/loops/resolve.h"
#include "core/loops/rewrite.h"

namespace twinloom::loops {

namespace {

class Actions {
 public:
  Actions(const Program& program, State& state) : names_(program, state), widths_(program) {
    for (const SizeInfo& size : program.sizes) names_.bind(size.symbol);
  }

  Action of(const Stmt& stmt) {
    return match(
        stmt, [&](const Block& node) { return of(node); }, [&](const Loop& node) { return of(node); },
        [&](const Let& node) { return of(node); }, [&](const Index& node) { return of(node); },
        [&](const Store& node) { return of(node); }, [&](const Start& node) { return of(node); },
        [&](const Accumulate& node) { return of(node); }, [&](const Scan& node) { return of(node); },
        [&](const Merge& node) { return of(node); }, [&](const Combine& node) { return of(node); },
        [&](const Push& node) { return of(node); }, [&](const Fold& node) { return of(node); },
        [&](const Prefix& node) { return of(node); }, [&](const Scratch& node) { return of(node); },
        [](const Prefetch&) -> Action { return [](State&) {}; },
        // Thread loops are walked one after the other, so their turns have all arrived.
        [](const Sync&) -> Action { return [](State& state) { ++state.moment.now; }; },
        [&](const LastBlock& node) { return of(node); }, [&](const Call& node) { return of(node); });
  }

 private:
  Action scoped(const Stmt& body) {
    Resolver::Names outer = names_.enter();
    Action action = of(body);
    names_.leave(std::move(outer));
    return action;
  }

  Action of(const Block& block) {
    std::vector<Action> actions;
    for (const Ref<Stmt>& stmt : block.stmts) actions.push_back(of(*stmt));
    return [actions = std::move(actions)](State& state) {
      for (const Action& action : actions) action(state);
    };
  }

  Action of(const Loop& loop) {
    const bool written_out = loop.bind == Bind::unroll || loop.bind == Bind::vector;
    CHECK(!written_out || index::constant_of(loop.extent), "the ", name(loop.bind), " loop ", loop.axis,
          " has the extent ", loop.extent);
    Integer extent = names_.integer(loop.extent);
    Resolver::Names outer = names_.enter();
    const std::size_t axis = names_.bind(loop.axis);
    Action body = of(*loop.body);
    names_.leave(std::move(outer));
    if (loop.bind == Bind::block) body = in_block(std::move(body));
    if (loop.bind == Bind::thread) body = in_thread(axis, widths_.width(loop.axis), std::move(body));
    // Members of a thread loop come to its Syncs together. That one is walked after the other shows nowhere
    // as long as none touches what another does in a later moment: see Touches.
    const bool together = loop.bind == Bind::thread && has_syncs(*loop.body);
    return [=, bind = loop.bind](State& state) {
      const std::int64_t count = extent(state);
      CHECK(count >= 0, "a loop has the extent ", count);
      const bool reversed = (bind == Bind::block && state.order.reversed_blocks) ||
                            (bind == Bind::thread && state.order.reversed_threads);
      const std::int64_t began = state.moment.now;
      std::int64_t ended = began;
      for (std::int64_t i = 0; i < count; ++i) {
        state.symbols[axis] = reversed ? count - 1 - i : i;
        if (together) state.moment.now = began;
        body(state);
        ended = std::max(ended, state.moment.now);
      }
      state.moment.now = ended;
    };
  }

  static Action in_thread(std::size_t axis, std::int64_t width, Action body) {
    return [=](State& state) {
      const Threads around = state.threads;
      state.threads = {around.first + state.symbols[axis] * width, width};
      body(state);
      state.threads = around;
    };
  }

  static bool has_syncs(const Stmt& body) {
    bool found = false;
    for_each_stmt(body, [&](const Stmt& stmt) { found = found || std::holds_alternative<Sync>(stmt.node); });
    return found;
  }

  static Action in_block(Action body) {
    return [=](State& state) {
      const std::int64_t around = state.moment.block_began;
      state.moment.block_began = ++state.moment.now;
      body(state);
      state.moment.block_began = around;
    };
  }

  Action of(const Let& let) {
    Element value = names_.element(*let.value);
    return [value = std::move(value), place = names_.define_value(let.temp, 1)](State& state) {
      state.values[place] = value(state);
    };
  }

  Action of(const Index& index) {
    const ops::DType dtype = names_.type_of(*index.value);
    CHECK(ops::is_integer(dtype), "the index ", index.symbol, " is ", ops::name(dtype));
    Element value = names_.element(*index.value);
    Integer bound = names_.integer(index.bound);
    Truth mask = names_.truth(index.mask);
    const Load* const load = first_load(*index.value);
    const bool known =
        index.node >= 0 && load != nullptr && !names_.program().buffers.at(load->buffer.index).local;
    Integer offset = names_.integer(known ? load->offset : index::Expr(-1));
    const std::size_t symbol = names_.bind(index.symbol, true);
    return [=, wraps = index.negative_wraps, node = index.node](State& state) {
      state.symbols[symbol] = 0;
      state.usable[symbol] = 0;
      if (!mask(state)) return;
      const Bits bits = value(state);
      const std::int64_t loaded = ops::load_number(dtype, &bits).integer();
      const std::int64_t limit = bound(state);
      // A u64 above the range of int64 is held as a negative number, and never means one.
      const bool negative = loaded < 0 && dtype != ops::DType::u64;
      const std::int64_t used = wraps && negative ? loaded + limit : loaded;
      if (used >= 0 && used < limit) {
        state.symbols[symbol] = used;
        state.usable[symbol] = 1;
      } else if (!state.failure) {
        state.failure = Failure{node, loaded, limit, offset(state)};
      }
    };
  }

  Action of(const Store& store) {
    const BufferInfo& info = names_.program().buffers.at(store.buffer.index);
    const std::string where = cat("the store to ", info.name, "[", store.offset, "]");
    return [=, dtype = info.dtype, update = store.update, array = store.buffer.index,
            value = names_.element(*store.value), offset = names_.integer(store.offset),
            mask = names_.truth(store.mask),
            indices = names_.indices_in(store.offset, store.mask)](State& state) {
      const bool usable = std::ranges::all_of(indices, [&](std::size_t i) { return state.usable[i] != 0; });
      if (!usable || !mask(state)) return;
      const Bits bits = value(state);
      const Access access = update == Update::replace ? Access::write : Access::update;
      std::byte* element = state.element(array, offset(state), access, where);
      const Bits after = update == Update::replace ? bits : updated(update, dtype, element, bits);
      std::memcpy(element, &after, static_cast<std::size_t>(ops::size_of(dtype)));
    };
  }

  static Bits updated(Update update, ops::DType dtype, const std::byte* element, Bits given) {
    Bits old = 0, after = 0;
    std::memcpy(&old, element, static_cast<std::size_t>(ops::size_of(dtype)));
    const std::array<const void*, 2> inputs = {&old, &given};
    const ops::Pointwise op = update == Update::atomic_add ? ops::Pointwise::add : ops::Pointwise::maximum;
    ops::apply_spelled(op, dtype, inputs, &after, 1);
    return after;
  }

  Action of(const Start& start) {
    TotalForm form{.place = names_.make_total(),
                   .combine = {start.monoid, start.element},
                   .parts = ops::parts(start.monoid),
                   .depth = start.depth,
                   .copies = {}};
    std::vector<Integer> extents;
    for (const Axis& axis : start.copies) {
      CHECK(!names_.is_bound(axis), "t", start.total.index, " has copies along ", axis,
            ", which it stands in");
      extents.push_back(names_.integer(names_.extent(axis)));
      Resolver::Names outer = names_.enter();
      form.copies.push_back({axis, names_.bind(axis), form.copies.size()});
      names_.leave(std::move(outer));
    }
    names_.define(start.total, form);
    return [extents = std::move(extents), place = form.place, combine = form.combine,
            depth = form.depth](State& state) {
      std::vector<std::int64_t> counts;
      for (const Integer& extent : extents) counts.push_back(extent(state));
      state.totals[place].start(combine, std::move(counts), depth);
    };
  }

  Action of(const Accumulate& node) {
    TotalForm& form = names_.total(node.total);
    CHECK(form.depth == 0, "the stack t", node.total.index, " is accumulated");
    form.filled = TotalForm::Filled::accumulated;
    return [place = form.place, combine = form.combine, at = names_.integer(node.place),
            mask = names_.truth(node.mask), cell = names_.cell(form),
            parts = names_.parts(node.values)](State& state) {
      if (!mask(state)) return;
      state.totals[place].reduction(cell(state)).add(combine, at(state), parts(state));
    };
  }

  Action of(const Scan& scan) {
    TotalForm& form = names_.total(scan.total);
    CHECK(form.copies.empty() && form.depth == 0, "t", scan.total.index, " is scanned and has copies");
    form.filled = TotalForm::Filled::scanned;
    auto keep = keeper(scan.result, form);
    return [keep, place = form.place, combine = form.combine, at = names_.integer(scan.place),
            exclusive = scan.exclusive, parts = names_.parts(scan.values)](State& state) {
      keep(state, state.totals[place].prefixes.add(combine, at(state), parts(state), exclusive));
    };
  }

  // Defines a temp of the same parts as a total and gives what sets it.
  std::function<void(State&, const Parts&)> keeper(Temp temp, const TotalForm& form) {
    std::vector<ops::DType> types;
    for (int part = 0; part < form.parts; ++part)
      types.push_back(ops::part_type(form.combine.monoid, form.combine.element, part));
    return [types, place = names_.define_value(temp, form.parts)](State& state, const Parts& parts) {
      for (std::size_t part = 0; part < types.size(); ++part) {
        state.values[place + part] = 0;
        ops::store_number(types[part], parts[part], &state.values[place + part]);
      }
    };
  }

  Action of(const Merge& merge) {
    const TotalForm& form = names_.total(merge.total);
    CHECK(form.depth == 0, "a merge into the stack t", merge.total.index);
    if (merge.product) return of_product(merge, form);
    return [place = form.place, combine = form.combine, mask = names_.truth(merge.mask),
            cell = names_.cell(form), parts = names_.parts(merge.values)](State& state) {
      if (!mask(state)) return;
      const Parts added = parts(state);
      Parts& copy = state.totals[place].cells[static_cast<std::size_t>(cell(state))];
      copy = combine(copy, added);
    };
  }

  Action of_product(const Merge& merge, const TotalForm& form) {
    return [place = form.place, dtype = form.combine.element, mask = names_.truth(merge.mask),
            cell = names_.cell(form), factors = names_.parts(merge.values)](State& state) {
      if (!mask(state)) return;
      const Parts given = factors(state);
      ops::Number& sum = state.totals[place].cells[static_cast<std::size_t>(cell(state))][0];
      std::array<Bits, 3> operands = {};
      ops::store_number(dtype, given[0], &operands[0]);
      ops::store_number(dtype, given[1], &operands[1]);
      ops::store_number(dtype, sum, &operands[2]);
      const std::array<const void*, 3> inputs = {&operands[0], &operands[1], &operands[2]};
      Bits result = 0;
      ops::apply_spelled(ops::Pointwise::fma, dtype, inputs, &result, 1);
      sum = ops::load_number(dtype, &result);
    };
  }

  Action of(const Combine& combine) {
    TotalForm& form = names_.total(combine.total);
    const Lines lines(names_, form, combine.across);
    std::erase_if(form.copies, [&](const CopyAxis& copy) { return copy.axis == combine.across; });
    return [lines, place = form.place, combiner = form.combine, pairing = combine.pairing](State& state) {
      for (const std::int64_t first : lines.firsts(state))
        combine_cells(state.totals[place], combiner, first, lines.stride(state), lines.count(state), pairing);
    };
  }

  Action of(const Push& push) {
    const TotalForm& form = names_.total(push.stack);
    std::vector<Ref<Value>> unit;
    for (int part = 0; part < form.parts; ++part) unit.push_back(read(push.unit, part));
    return [place = form.place, combine = form.combine, depth = form.depth, mask = names_.truth(push.mask),
            number = names_.integer(push.number), cell = names_.cell(form),
            parts = names_.parts(unit)](State& state) {
      if (!mask(state)) return;
      push_cell(state.totals[place], combine, cell(state), depth, number(state), parts(state));
    };
  }

  Action of(const Fold& fold) {
    const TotalForm& form = names_.total(fold.stack);
    CHECK(form.depth > 0, "a fold of t", fold.stack.index, ", which is no stack");
    auto keep = keeper(fold.result, form);
    return [keep, place = form.place, combine = form.combine, depth = form.depth,
            count = names_.integer(fold.count), cell = names_.cell(form)](State& state) {
      keep(state, fold_cells(state.totals[place], combine, cell(state), depth, count(state)));
    };
  }

  // `before` has a cell for each cell of the total, `all` keeps its result in the first of each line,
  // so both are walked with the total's own strides.
  Action of(const Prefix& prefix) {
    TotalForm& form = names_.total(prefix.total);
    const Lines lines(names_, form, prefix.across);
    TotalForm before = form, all = form;
    before.place = names_.make_total();
    all.place = names_.make_total();
    const auto across = [&](const CopyAxis& copy) { return copy.axis == prefix.across; };
    std::erase_if(form.copies, across);
    std::erase_if(all.copies, across);
    names_.define(prefix.before, before);
    names_.define(prefix.all, all);
    return [lines, combine = form.combine, from = form.place, before = before.place,
            all = all.place](State& state) {
      state.totals[before] = state.totals[from];
      state.totals[all] = state.totals[from];
      const std::vector<Parts>& cells = state.totals[from].cells;
      for (const std::int64_t first : lines.firsts(state)) {
        Parts running = combine.identity();
        for (std::int64_t r = 0; r < lines.count(state); ++r) {
          const auto at = static_cast<std::size_t>(first + r * lines.stride(state));
          state.totals[before].cells[at] = running;
          running = r == 0 ? cells[at] : combine(running, cells[at]);
        }
        state.totals[all].cells[static_cast<std::size_t>(first)] = running;
      }
    };
  }

  Action of(const Scratch& scratch) {
    Integer count = names_.integer(scratch.count);
    return [count = std::move(count), body = scoped(*scratch.body), array = scratch.buffer.index,
            place = scratch.place, threads = widths_.threads()](State& state) {
      Array& local = state.arrays[array];
      CHECK(local.local, "the scratch ", local.name, " is an argument");
      local.count = count(state);
      CHECK(local.count >= 0, "the scratch ", local.name, " has ", local.count, " elements");
      local.each_thread = place == Place::registers;
      local.shared = threads > 1 && !local.each_thread;
      local.of_thread.clear();
      // Its next turn in this block has the same memory, which some threads may still touch.
      if (local.shared &&
          std::exchange(local.block_began, state.moment.block_began) != state.moment.block_began)
        local.touches.start(0, local.count);
      body(state);
      local.of_thread.clear();
      local.count = 0;
    };
  }

  Action of(const LastBlock& last) {
    std::vector<Integer> extents;
    for (const Axis& axis : last.among) extents.push_back(names_.integer(names_.extent(axis)));
    const BufferInfo& info = names_.program().buffers.at(last.counter.index);
    return [extents = std::move(extents), array = last.counter.index, dtype = info.dtype,
            where = cat("the counter ", info.name, "[", last.offset, "]"),
            offset = names_.integer(last.offset), body = scoped(*last.body)](State& state) {
      std::int64_t members = 1;
      for (const Integer& extent : extents) members *= extent(state);
      std::byte* counter = state.element(array, offset(state), Access::update, where);
      const std::int64_t arrived = ops::load_number(dtype, counter).integer() + 1;
      CHECK(arrived >= 1 && arrived <= members, where, " counts ", arrived, " of ", members, " members");
      ops::store_number(dtype, arrived == members ? 0 : arrived, counter);
      if (arrived < members) return;
      const Moment around = state.moment;
      state.moment = {around.now + 1, 0};
      body(state);
      state.moment = {state.moment.now + 1, around.block_began};
    };
  }

  Action of(const Call& call) {
    switch (call.routine) {
      case Routine::stable_sort:
        return sort(call);
      case Routine::sums_by_key:
        return sums(call);
    }
    return nullptr;
  }

  // What the slot sets its element to, of what its axes are set to before.
  Element element_of(const Slot& slot, std::vector<std::size_t>& axes) {
    for (const Axis& axis : slot.at) axes.push_back(names_.bind(axis));
    Action body = of(*slot.body);
    return [body = std::move(body), element = names_.read({slot.element, 0})](State& state) {
      body(state);
      return element(state);
    };
  }

  Action sort(const Call& call) {
    const CallSizes sizes = call_sizes(call);
    Integer n = names_.integer(sizes.n), bound = names_.integer(sizes.bound),
            rows = names_.integer(sizes.rows);
    std::vector<std::size_t> axes;
    Element key = element_of(call.slots.front(), axes);
    const bool whole = !has_starts(call);
    const auto epilogue = epilogue_of_sort(call);
    return [=, axis = axes.front(), order = call.operands.front().index,
            starts = call.operands.back().index](State& state) {
      std::vector<std::int64_t> keys;
      for (std::int64_t p = 0; p < rows(state) * n(state); ++p) {
        state.symbols[axis] = p;
        const auto own = static_cast<std::int64_t>(key(state));
        const bool inside = own >= 0 && own < bound(state);
        CHECK(inside || (!whole && (rows(state) == 1 || bound(state) == 0)), "the key ", own,
              " of a row, below ", bound(state));
        keys.push_back(inside ? p / n(state) * bound(state) + own : -1);
      }
      if (whole) {
        const std::vector<std::int64_t> offsets = offsets_in_rows(stable_order(keys), n(state));
        store_all(state, order, offsets);
        return epilogue(state, offsets);
      }
      const Sorted sorted = stable_sort(keys, rows(state) * bound(state));
      store_all(state, order, sorted.order);
      store_all(state, starts, sorted.starts);
    };
  }

  // What the epilogue does with the order that was found.
  std::function<void(State&, const std::vector<std::int64_t>&)> epilogue_of_sort(const Call& sort) {
    const Slot* const slot = epilogue_of(sort);
    if (slot == nullptr) return [](State&, const std::vector<std::int64_t>&) {};
    Integer n = names_.integer(call_sizes(sort).n);
    const std::size_t row = names_.bind(slot->at[0]), axis = names_.bind(slot->at[1]);
    const std::size_t element = names_.define_value(slot->element, 1);
    return [=, body = of(*slot->body)](State& state, const std::vector<std::int64_t>& order) {
      for (std::size_t at = 0; at < order.size(); ++at) {
        state.symbols[row] = static_cast<std::int64_t>(at) / n(state);
        state.symbols[axis] = static_cast<std::int64_t>(at) % n(state);
        state.values[element] = static_cast<Bits>(order[at]);
        body(state);
      }
    };
  }

  Action sums(const Call& call) {
    const CallSizes sizes = call_sizes(call);
    Integer n = names_.integer(sizes.n), bound = names_.integer(sizes.bound),
            rows = names_.integer(sizes.rows);
    std::vector<std::size_t> axes;
    Element key = element_of(call.slots[0], axes), value = element_of(call.slots[1], axes);
    const std::size_t array = call.operands[0].index;
    return [=, dtype = names_.program().buffers.at(array).dtype](State& state) {
      for (std::int64_t row = 0; row < rows(state); ++row) {
        KeyedSums sums(dtype, bound(state));
        for (std::int64_t p = 0; p < n(state); ++p) {
          for (std::size_t k = 0; k < axes.size(); ++k) state.symbols[axes[k]] = k % 2 == 0 ? row : p;
          const Bits key_bits = key(state), bits = value(state);
          if (bound(state) > 0) sums.add(static_cast<std::int64_t>(key_bits), ops::load_number(dtype, &bits));
        }
        for (std::int64_t k = 0; k < bound(state); ++k)
          ops::store_number(dtype, sums.sum(k),
                            state.element(array, row * bound(state) + k, Access::write, "a sums_by_key"));
      }
    };
  }

  static std::vector<std::int64_t> offsets_in_rows(std::vector<std::int64_t> elements, std::int64_t n) {
    for (std::int64_t& element : elements) element %= n;
    return elements;
  }

  static void store_all(State& state, std::size_t array, const std::vector<std::int64_t>& numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      ops::store_number(ops::DType::i64, numbers[i],
                        state.element(array, static_cast<std::int64_t>(i), Access::write, "a stable_sort"));
  }

  Resolver names_;
  ThreadWidths widths_;
};

}  // namespace

std::optional<Failure> interpret(const Program& program, std::span<const Memory> arguments,
                                 std::span<const std::int64_t> sizes, const Order& order) {
  CHECK(sizes.size() == program.sizes.size(), program.name, " is given ", sizes.size(), " sizes");
  const auto locals = std::ranges::count_if(program.buffers, &BufferInfo::local);
  CHECK(arguments.size() + static_cast<std::size_t>(locals) == program.buffers.size(), program.name,
        " is given ", arguments.size(), " arguments");
  State state;
  state.order = order;
  state.arrays = arrays_of(program, arguments);
  state.threads = {0, ThreadWidths(program).threads()};
  const Action run = Actions(program, state).of(*program.body);
  std::ranges::copy(sizes, state.symbols.begin());
  run(state);
  return state.failure;
}

}  // namespace twinloom::loops
