// See combine.h. Two ways: a producer that nobody else reads is written into its reader; else the two get
// common loops (the frame) and stand in them one after the other.
#include "core/fuse/combine.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/fuse/align.h"
#include "core/fuse/epilogue.h"
#include "core/fuse/forward.h"
#include "core/fuse/items.h"
#include "core/fuse/places.h"
#include "core/fuse/siblings.h"
#include "core/fuse/times.h"
#include "core/index/simplify.h"
#include "core/loops/rewrite.h"
#include "core/lower/realize.h"
#include "core/lower/share.h"

namespace twinloom::fuse {

using namespace loops;
using lower::ValueId;

namespace {

constexpr std::string_view ADDS_IN_MEMORY = "what adds to elements in memory is a kernel of its own";

// Whether some loop ends where only the run knows: nobody can say that it reads few.
bool walks_lists(const Nest& nest) {
  std::set<index::Symbol> found;
  for (const Item& item : nest.items) {
    const auto* sibling = std::get_if<Sibling>(&item);
    const auto is_list = [&](const NestLoop& loop) {
      return std::ranges::any_of(index::symbols_of(loop.extent),
                                 [&](const index::Symbol& symbol) { return found.contains(symbol); });
    };
    if (sibling != nullptr && std::ranges::any_of(sibling->loops, is_list)) return true;
    for (const Ref<Stmt>& stmt : statements_in(item))
      if (const auto* index = std::get_if<Index>(&stmt->node)) found.insert(index->symbol);
  }
  return false;
}

class Combiner {
 public:
  Combiner(const Around& around, std::size_t first, std::size_t second, lower::Names& names)
      : around_(around), names_(names), first_number_(first), second_number_(second) {
    find_flows();
  }

  Combined run() {
    if (is_routine(first_number_) || is_routine(second_number_)) {
      if (auto combined = into_epilogue()) return std::move(*combined);
      return refuse(Reason::routine, "a sort is a kernel of its own");
    }
    if (!updates_of(first_number_).empty() || (!updates_of(second_number_).empty() && flows_.empty()))
      return refuse(Reason::routine, std::string(ADDS_IN_MEMORY));
    if (has_barrier())
      return refuse(Reason::barrier, "the buffer is asked for by the user or by a library's call");
    if (const std::string words = over_limits(); !words.empty()) return refuse(Reason::too_large, words);
    if (!flows_.empty() && !only_writer_is_first())
      return refuse(Reason::different_place, "the buffer is written in parts by several kernels");
    first_ = open_side(first_number_);
    second_ = open_side(second_number_);
    Combined combined = in_one();
    if (!combined.unit) return combined;
    if (const std::string words = over_limits(body_of(combined.unit->nest)); !words.empty())
      return refuse(Reason::too_large, words);
    const std::optional<Slower> slower = slower_than_two(pair(), combined.unit->nest);
    return slower ? refuse(slower->reason, slower->words) : combined;
  }

  std::optional<lower::Unit> second_by_itself() {
    if (is_routine(first_number_) || is_routine(second_number_) || !updates_of(first_number_).empty())
      return std::nullopt;
    if (flows_.empty() || has_barrier() || !only_writer_is_first()) return std::nullopt;
    first_ = open_side(first_number_);
    if (!is_elementwise(first_.draft.nest)) return std::nullopt;
    second_ = open_side(second_number_);
    if (walks_lists(second_.draft.nest)) return std::nullopt;
    index::Facts facts;
    const Forwarded forwarded = forwarded_to_reader(facts);
    double elements = 0;
    for (const Buffer buffer : flows_) elements = std::max(elements, elements_of(buffer));
    if (!forwarded.refused.empty() || forwarded.evaluations * around_.limits.few_of > elements)
      return std::nullopt;
    lower::Unit unit = *finish(forwarded.nest, facts).unit;
    return over_limits(body_of(unit.nest)).empty() ? std::optional(std::move(unit)) : std::nullopt;
  }

 private:
  Combined in_one() {
    if (may_vanish()) {
      if (auto combined = write_into_reader()) return std::move(*combined);
    }
    if (!updates_of(second_number_).empty()) return refuse(Reason::routine, std::string(ADDS_IN_MEMORY));
    return with_frame();
  }

  // The reader of a sort's order, after the sort.
  std::optional<Combined> into_epilogue() {
    if (is_routine(second_number_) || flows_.size() != 1 || has_barrier() || !only_writer_is_first())
      return std::nullopt;
    if (!over_limits().empty()) return std::nullopt;
    const Nest sort = opened(first_number_), reader = opened(second_number_);
    std::optional<Nest> whole = with_epilogue(sort, reader, *flows_.begin(), names_);
    if (!whole) return std::nullopt;
    const auto &first = around_.lowered.units[first_number_].nodes,
               &second = around_.lowered.units[second_number_].nodes;
    std::vector<graph::NodeId> nodes = first;
    nodes.insert(nodes.end(), second.begin(), second.end());
    return Combined{lower::packed(*whole, std::move(nodes), around_.lowered), Reason::no_gain, {}};
  }
  // With its Lets.
  Nest opened(std::size_t number) {
    const lower::Unit& unit = around_.lowered.units[number];
    return take_apart({unit.nest.name, {}, {}, lower::opened(unit, 0, names_)});
  }

  const std::vector<ValueId>& updates_of(std::size_t number) const {
    return around_.lowered.units[number].updates;
  }

  bool is_routine(std::size_t number) const {
    return std::holds_alternative<Call>(block({around_.lowered.units[number].nest.body})->node);
  }

  Side open_side(std::size_t number) {
    Side side{lower::open(around_.lowered.units[number], names_), {}};
    side.facts = lower::facts_of(side.draft.nest, around_.lowered.facts);
    refine(side, names_);
    return side;
  }

  static Combined refuse(Reason reason, std::string words) {
    return {std::nullopt, reason, std::move(words)};
  }

  void find_flows() {
    const lower::Unit& first = around_.lowered.units[first_number_];
    const lower::Unit& second = around_.lowered.units[second_number_];
    for (std::size_t k = 0; k < first.arguments.size(); ++k) {
      const auto found = std::ranges::find(second.arguments, first.arguments[k]);
      if (found == second.arguments.end()) continue;
      const auto at = static_cast<std::size_t>(found - second.arguments.begin());
      const Buffer buffer{first.arguments[k].index};
      const bool written = first.nest.buffers[k].written, read = !second.nest.buffers[at].written;
      if (written && read) flows_.insert(buffer);
      if (!written && read) shared_.insert(buffer);
    }
    for (const Buffer buffer : flows_) {
      const lower::Value& value = around_.lowered[ValueId{buffer.index}];
      const std::vector<std::size_t>& readers = around_.readers[buffer.index];
      if (value.storage == lower::Storage::temporary && readers.size() == 1) dropped_.insert(buffer);
    }
  }

  bool has_barrier() const {
    return std::ranges::any_of(flows_,
                               [&](Buffer buffer) { return around_.lowered[ValueId{buffer.index}].barrier; });
  }
  bool only_writer_is_first() const {
    return std::ranges::all_of(flows_,
                               [&](Buffer buffer) { return around_.writers[buffer.index].size() == 1; });
  }

  // Nothing of the first is left when the second computes what it needs of it.
  bool may_vanish() const {
    if (flows_.empty() || !is_elementwise(first_.draft.nest)) return false;
    return std::ranges::all_of(stores_of(first_.draft.nest),
                               [&](const Stored& stored) { return dropped_.contains(stored.store->buffer); });
  }

  // Before anything is combined: what the two have in common may be written once.
  std::string over_limits() const {
    const Limits& limits = around_.limits;
    const lower::Unit& first = around_.lowered.units[first_number_];
    const lower::Unit& second = around_.lowered.units[second_number_];
    const int values = std::max(around_.bodies[first_number_].values, around_.bodies[second_number_].values);
    if (values > limits.values)
      return cat("one of the two has ", values, " operators, a kernel at most ", limits.values);
    std::set<ValueId> buffers(first.arguments.begin(), first.arguments.end());
    buffers.insert(second.arguments.begin(), second.arguments.end());
    const auto count = static_cast<int>(buffers.size());
    if (count <= limits.buffers) return {};
    return cat("the two touch ", count, " buffers, a kernel at most ", limits.buffers);
  }

  // What is above a limit already may stay as it is.
  std::string over_limits(const Body& body) const {
    const Limits& limits = around_.limits;
    const Body &first = around_.bodies[first_number_], &second = around_.bodies[second_number_];
    if (body.values > limits.values && body.values > std::max(first.values, second.values))
      return cat("the two together have ", body.values, " operators, a kernel at most ", limits.values);
    if (body.live > limits.live && body.live > std::max(first.live, second.live))
      return cat("the two together keep ", body.live, " values at once, a kernel at most ", limits.live);
    return {};
  }

  Pair pair() const { return {around_, first_number_, second_number_}; }
  double typical() const { return static_cast<double>(around_.limits.typical_size); }
  double elements_of(Buffer buffer) const {
    return lower::typical_count(around_.lowered[ValueId{buffer.index}].shape, typical());
  }

  // What computing again costs, and what writing, reading and launching. `kept`: the first computes its
  // elements in any case.
  struct Balance {
    double elements, again, saved;
    bool pays() const { return again <= saved; }
  };
  Balance balance_of(const Forwarded& forwarded, bool kept) const {
    const lower::Costs& costs = around_.limits.costs;
    double elements = 0, saved = costs.launch;
    for (const Buffer buffer : flows_) {
      elements = std::max(elements, elements_of(buffer));
      saved += elements_of(buffer) * costs.memory * (dropped_.contains(buffer) ? 2 : 1);
    }
    double again = forwarded.evaluations - (kept ? 0 : elements);
    // A reader with the writer's own loops is merged with them.
    if (kept && forwarded.evaluations <= elements) again = 0;
    saved += std::max(0.0, forwarded.evaluations - elements) * costs.memory;
    return {elements, again * forwarded.work, saved};
  }

  // The reader with what it loads of the writer computed where it is needed, and what is known of its
  // symbols.
  Forwarded forwarded_to_reader(index::Facts& facts) {
    facts = lower::facts_of(second_.draft.nest, first_.facts);
    const Handover handover{.same_turn = false, .facts = &facts, .limits = &around_.limits};
    return forward(first_.draft.nest, second_.draft.nest, flows_, handover, names_);
  }

  std::optional<Combined> write_into_reader() {
    index::Facts facts;
    Forwarded forwarded = forwarded_to_reader(facts);
    if (!forwarded.refused.empty()) return std::nullopt;
    const Balance balance = balance_of(forwarded, false);
    // How elements lie counts too, which only seconds tell: where neighbours are read apart, each costs a
    // sector, and each time where an index says which it is.
    const lower::Costs& costs = around_.limits.costs;
    const bool looks_up = loops::looks_up_indices(*around_.lowered.units[first_number_].nest.body);
    const double apart = costs.apart * (looks_up ? forwarded.evaluations : balance.elements);
    const bool is_plain = !around_.limits.seconds || balance.again + apart <= costs.launch;
    if (is_plain && !balance.pays()) return computes_too_much();
    Combined combined = finish(std::move(forwarded.nest), facts);
    const double most = balance.pays() ? 1 : around_.limits.clearly_less;
    if (!is_plain && !is_faster(pair(), combined.unit->nest, most)) return computes_too_much();
    return combined;
  }
  static Combined computes_too_much() {
    return refuse(Reason::no_gain, "computing the elements again costs more than reading them");
  }

  Combined finish(Nest nest, const index::Facts& facts) {
    lower::Draft draft{merge_siblings(std::move(nest), facts), first_.draft.nodes};
    draft.nodes.insert(draft.nodes.end(), second_.draft.nodes.begin(), second_.draft.nodes.end());
    return {lower::finish(draft, around_.lowered), Reason::no_gain, {}};
  }

  // The frame.
  Combined with_frame() {
    const Places places =
        places_in_common(first_.draft.nest, second_.draft.nest, flows_.empty() ? shared_ : flows_,
                         /*stored=*/!flows_.empty(), around_.limits.most_places);
    if (places.empty()) return refuse(Reason::no_gain, "the two touch no element in common");
    std::optional<Combined> refusal;
    for (const auto& [first_offset, second_offset] : places) {
      const Side first = first_, second = second_;
      Combined combined = at_places(first_offset, second_offset);
      if (combined.unit) return combined;
      if (!refusal) refusal = std::move(combined);
      first_ = first;
      second_ = second;
    }
    return std::move(*refusal);
  }

  Combined no_frame(bool needs_several) const {
    auto [reason, words] = why_no_frame(first_.draft.nest, second_.draft.nest, needs_several, typical());
    return refuse(reason, std::move(words));
  }

  Combined at_places(const index::Expr& first_offset, const index::Expr& second_offset) {
    Reach first_reach{first_offset, first_.draft.nest.common},
        second_reach{second_offset, second_.draft.nest.common};
    Alignment alignment = align(first_, first_reach, second_, second_reach, names_);
    const bool first_fixed = !is_elementwise(first_.draft.nest),
               second_fixed = !is_elementwise(second_.draft.nest);
    if (flows_.empty())
      match_the_rest(first_.draft.nest, second_.draft.nest, shared_, around_.limits.most_places, alignment);
    const std::vector<NestLoop> first_left = axes_not_in(first_.draft.nest.common, alignment.second_by_first);
    const std::vector<NestLoop> second_left =
        axes_not_in(second_.draft.nest.common, alignment.first_by_second);
    const bool fits = (first_left.empty() || !first_fixed) && (second_left.empty() || !second_fixed);
    const bool needs_several = !first_left.empty() && second_left.empty();
    if (!fits) return no_frame(needs_several);
    if (!first_fixed && !second_fixed) {
      const bool one_whole = first_left.empty() || second_left.empty();
      const bool both_whole = first_left.empty() && second_left.empty();
      if (!(flows_.empty() ? both_whole : one_whole)) return no_frame(needs_several);
    }
    if (const std::string words = loses_turns(alignment, first_left, second_left); !words.empty())
      return refuse(Reason::parallelism, words);
    return in_frame(alignment, first_left, second_left);
  }

  // What used to run in many independent turns must not end up in few.
  std::string loses_turns(const Alignment& alignment, const std::vector<NestLoop>& first_left,
                          const std::vector<NestLoop>& second_left) const {
    std::vector<NestLoop> frame;
    for (const NestLoop& loop : first_.draft.nest.common)
      if (alignment.second_by_first.contains(loop.axis)) frame.push_back(loop);
    const double turns = typical_turns(frame, typical());
    if (around_.limits.seconds || turns >= static_cast<double>(around_.limits.enough_turns)) return {};
    const double first = turns * typical_turns(first_left, typical()),
                 second = turns * typical_turns(second_left, typical());
    const double most = std::max(first_left.empty() ? 0 : first, second_left.empty() ? 0 : second);
    if (most <= static_cast<double>(around_.limits.small_elements)) return {};
    return cat("independent turns that would be left: ", turns);
  }

  // The common loops in the order of the side that cannot choose, else of the reader.
  std::vector<NestLoop> frame_of(const Alignment& alignment, bool first_fixed) const {
    std::vector<NestLoop> frame;
    if (first_fixed) return first_.draft.nest.common;
    for (const NestLoop& loop : second_.draft.nest.common) {
      const auto same = alignment.first_by_second.find(loop.axis);
      if (same != alignment.first_by_second.end()) frame.push_back({same->second, loop.extent});
    }
    return frame;
  }

  Combined in_frame(const Alignment& alignment, const std::vector<NestLoop>& first_left,
                    const std::vector<NestLoop>& second_left) {
    const std::vector<NestLoop> frame = frame_of(alignment, !is_elementwise(first_.draft.nest));
    const Nest second = renamed(second_.draft.nest, alignment.first_by_second);
    const Nest reader{frame, under(second, second_left)};
    Nest writer = first_.draft.nest;
    if (!first_left.empty()) writer = Nest{frame, under(first_.draft.nest, first_left)};
    const index::Facts facts = lower::facts_of(reader, lower::facts_of(writer, first_.facts));
    // An element by element writer can be computed anywhere, so it is handed over as it was.
    const Nest& source = is_elementwise(first_.draft.nest) ? first_.draft.nest : writer;
    const Handover handover{.same_turn = true, .facts = &facts, .limits = &around_.limits};
    Forwarded forwarded = forward(source, reader, flows_, handover, names_);
    if (!forwarded.refused.empty()) return refuse(Reason::different_place, forwarded.refused);
    const bool computes_again = !flows_.empty() && !balance_of(forwarded, !may_vanish()).pays();
    if (computes_again && !around_.limits.seconds) return computes_too_much();
    Combined combined = put_together(writer, std::move(forwarded), frame, facts);
    if (computes_again && combined.unit &&
        !is_faster(pair(), combined.unit->nest, around_.limits.clearly_less))
      return computes_too_much();
    return combined;
  }

  Combined put_together(const Nest& writer, Forwarded forwarded, const std::vector<NestLoop>& frame,
                        const index::Facts& facts) {
    Nest nest{frame, writer.items};
    nest.items.insert(nest.items.end(), forwarded.nest.items.begin(), forwarded.nest.items.end());
    // Positions shift with each join, so joins go from the last reader to the first.
    std::map<std::size_t, Forwarded::Join> by_reader;
    for (const Forwarded::Join& each : forwarded.joins) {
      const auto [known, fresh] = by_reader.emplace(each.reader, each);
      if (!fresh && known->second.writer_by_reader != each.writer_by_reader)
        return refuse(Reason::different_place, "an element of a scan is read in two orders");
    }
    for (auto each = by_reader.rbegin(); each != by_reader.rend(); ++each) {
      auto joined = fuse::join(nest, each->second.writer, writer.items.size() + each->first,
                               each->second.writer_by_reader);
      if (!joined || !is_still_at(*joined, each->second.writer, writer))
        return refuse(Reason::different_place,
                      "the reader of a scan is a total, or needs one that comes later");
      nest = std::move(*joined);
    }
    nest.items = without_stores(nest.items, may_vanish() ? stored_buffers() : dropped_);
    return finish(std::move(nest), facts);
  }

  // Items that a join moves in front of the writer would shift it.
  static bool is_still_at(const Nest& nest, std::size_t item, const Nest& writer) {
    const auto* sibling = std::get_if<Sibling>(&nest.items[item]);
    return sibling != nullptr && sibling->loops == std::get<Sibling>(writer.items[item]).loops;
  }

  std::set<Buffer> stored_buffers() const {
    std::set<Buffer> all;
    for (const Stored& stored : stores_of(first_.draft.nest)) all.insert(stored.store->buffer);
    return all;
  }

  const Around& around_;
  lower::Names& names_;
  std::size_t first_number_, second_number_;
  Side first_, second_;
  std::set<Buffer> flows_, shared_, dropped_;
};

}  // namespace

Around around(const lower::Lowered& lowered, const Limits& limits) {
  Around result{lowered, limits, {}, {}, {}};
  result.readers.resize(lowered.values.size());
  result.writers.resize(lowered.values.size());
  for (std::size_t number = 0; number < lowered.units.size(); ++number) {
    result.bodies.push_back(body_of(lowered.units[number].nest));
    count_touches(result, lowered.units[number], number, true);
  }
  return result;
}

void count_touches(Around& around, const lower::Unit& unit, std::size_t number, bool present) {
  const auto count = [&](std::vector<std::size_t>& all) {
    const auto at = std::ranges::lower_bound(all, number);
    if (present)
      all.insert(at, number);
    else
      all.erase(at);
  };
  for (std::size_t k = 0; k < unit.arguments.size(); ++k)
    count((unit.nest.buffers[k].written ? around.writers : around.readers)[unit.arguments[k].index]);
  // It needs what was written there.
  for (const ValueId id : unit.updates) count(around.readers[id.index]);
}

Combined combine(const Around& around, std::size_t first, std::size_t second, lower::Names& names) {
  return Combiner(around, first, second, names).run();
}

std::optional<lower::Unit> computing_few_again(const Around& around, std::size_t first, std::size_t second,
                                               lower::Names& names) {
  return Combiner(around, first, second, names).second_by_itself();
}

}  // namespace twinloom::fuse
