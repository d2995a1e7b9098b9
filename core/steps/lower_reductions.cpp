// Every Accumulate becomes a Merge, and what reaches its accumulator is written out: lower_any_order.cpp,
// lower_canonical.cpp. Accumulators that are accumulated side by side are lowered together.
#include <algorithm>
#include <map>

#include "core/steps/accumulators.h"
#include "core/steps/lower.h"
#include "core/steps/threads.h"
#include "core/steps/tidy.h"

namespace twinloom::steps {

std::optional<std::size_t> number_in(const Group& group, loops::Temp total) {
  const auto found = std::ranges::find(group, total, &loops::Start::total);
  return found == group.end() ? std::nullopt : std::optional<std::size_t>(found - group.begin());
}

bool is_accumulated_in(const Stmt& stmt, const Group& group) {
  bool found = false;
  loops::for_each_stmt(stmt, [&](const Stmt& inner) {
    const auto* step = std::get_if<loops::Accumulate>(&inner.node);
    found = found || (step != nullptr && number_in(group, step->total));
  });
  return found;
}

bool is_copied(const loops::Start& start, const loops::Axis& axis) {
  return std::ranges::find(start.copies, axis) != start.copies.end();
}

std::vector<Ref<Stmt>> starts_of(const Group& group, const std::vector<loops::Temp>& temps,
                                 const std::vector<loops::Axis>& more_copies, int depth) {
  std::vector<Ref<Stmt>> stmts;
  for (std::size_t number = 0; number < group.size(); ++number) {
    std::vector<loops::Axis> copies = group[number].copies;
    copies.insert(copies.end(), more_copies.begin(), more_copies.end());
    loops::Start start = start_like(group[number], temps[number], std::move(copies), depth);
    start.free = group[number].free;
    start.folded = group[number].folded;
    stmts.push_back(loops::stmt(std::move(start)));
  }
  return stmts;
}

namespace {

bool is_in_any_order(const Group& group) {
  return std::ranges::all_of(group, [](const loops::Start& start) {
    return start.free || ops::order(start.monoid, start.element) == ops::Order::any;
  });
}

// Whether each is accumulated beside the other, wherever that is.
bool are_side_by_side(const std::vector<Accumulated>& some, const std::vector<Accumulated>& others) {
  return std::ranges::equal(some, others, [](const Accumulated& one, const Accumulated& other) {
    return !one.loops.empty() && one.loops.size() == other.loops.size() &&
           one.loops.back().body == other.loops.back().body && one.step.place == other.step.place &&
           one.step.mask == other.step.mask;
  });
}

// The accumulators that are started in the block and accumulated in it. One in any order is reached as those
// in the canonical order beside it are.
std::vector<Group> groups_in(const loops::Block& block) {
  std::map<loops::Temp, std::vector<Accumulated>> steps;
  for (const Ref<Stmt>& stmt : block.stmts)
    if (const auto* start = std::get_if<loops::Start>(&stmt->node)) steps[start->total];
  if (steps.empty()) return {};
  for (const Ref<Stmt>& stmt : block.stmts)
    for_each_in_loops(*stmt, [&](const Stmt& inner, const std::vector<loops::Loop>& around) {
      const auto* step = std::get_if<loops::Accumulate>(&inner.node);
      if (step != nullptr && steps.contains(step->total)) steps[step->total].push_back({*step, around});
    });
  std::vector<Group> groups;
  for (const Ref<Stmt>& stmt : block.stmts) {
    const auto* start = std::get_if<loops::Start>(&stmt->node);
    if (start == nullptr || steps.at(start->total).empty()) continue;
    const auto group = std::ranges::find_if(groups, [&](const Group& known) {
      return known.front().free == start->free && known.front().folded == start->folded &&
             known.front().copies == start->copies &&
             are_side_by_side(steps.at(known.front().total), steps.at(start->total));
    });
    if (group == groups.end())
      groups.push_back({*start});
    else
      group->push_back(*start);
  }
  return groups;
}

// Which stores the value of an accumulator comes to, through Lets and other accumulators too.
class Stores {
 public:
  explicit Stores(const Stmt& body) {
    loops::for_each_stmt(body, [&](const Stmt& stmt) {
      if (const auto* store = std::get_if<loops::Store>(&stmt.node)) add(*store->value, {*store, {}});
      if (const auto* let = std::get_if<loops::Let>(&stmt.node)) add(*let->value, {{}, let->temp});
      if (const auto* step = std::get_if<loops::Accumulate>(&stmt.node))
        for (const auto& value : step->values) add(*value, {{}, step->total});
      if (const auto* index = std::get_if<loops::Index>(&stmt.node)) add(*index->value, {});
      if (const auto* scan = std::get_if<loops::Scan>(&stmt.node))
        for (const auto& value : scan->values) add(*value, {});
    });
  }

  // Whether all of them are left out where this does not hold.
  bool all_have(const index::Less& less, loops::Temp temp) const {
    const auto users = users_.find(temp);
    if (users == users_.end()) return true;
    return std::ranges::all_of(users->second, [&](const User& user) {
      if (user.temp) return all_have(less, *user.temp);
      return user.store && std::ranges::find(user.store->mask.all, less) != user.store->mask.all.end();
    });
  }

 private:
  struct User {  // neither: something else
    std::optional<loops::Store> store;
    std::optional<loops::Temp> temp;
  };
  void add(const loops::Value& value, const User& user) {
    loops::for_each_value(value, [&](const loops::Value& part) {
      if (const auto* read = std::get_if<loops::Read>(&part.node)) users_[read->temp].push_back(user);
    });
  }

  std::map<loops::Temp, std::vector<User>> users_;
};

class Lowerer {
 public:
  Lowerer(const Kernel& kernel, Proofs proofs)
      : kernel_(kernel),
        simplify_(kernel.facts),
        lowering_{kernel,
                  simplify_,
                  proofs,
                  [this] { return loops::Temp{next_temp_++}; },
                  [this](std::string_view stem) { return fresh_symbol(stem, taken_); },
                  [this](const auto& step, const auto& reduced) { return mask_of(step, reduced); }},
        next_temp_(loops::next_temp(kernel.program).index),
        taken_(symbols_in(kernel.program)),
        stores_(*kernel.program.body) {}

  std::variant<Ref<Stmt>, std::string> run() {
    const Ref<Stmt> body =
        loops::rewrite_stmts(kernel_.program.body, [&](const Ref<Stmt>& stmt) -> Ref<Stmt> {
          const auto* block = std::get_if<loops::Block>(&stmt->node);
          return block == nullptr ? stmt : lower(stmt, groups_in(*block));
        });
    if (!reason_.empty()) return reason_;
    return tidy(body, simplify_);
  }

 private:
  Ref<Stmt> lower(const Ref<Stmt>& block, const std::vector<Group>& groups) {
    if (groups.empty()) return block;
    std::vector<Ref<Stmt>> stmts = stmts_of(block);
    for (const Group& group : groups) {
      std::erase_if(stmts, [&](const Ref<Stmt>& stmt) {
        const auto* start = std::get_if<loops::Start>(&stmt->node);
        return start != nullptr && number_in(group, start->total);
      });
      auto lowered = is_in_any_order(group) ? lower_any_order(lowering_, group, std::move(stmts))
                                            : lower_canonical(lowering_, group, std::move(stmts));
      if (auto* reason = std::get_if<std::string>(&lowered)) {
        if (reason_.empty()) reason_ = std::move(*reason);
        return block;
      }
      stmts = std::get<std::vector<Ref<Stmt>>>(std::move(lowered));
    }
    return loops::block(std::move(stmts));
  }

  // What a copy past the end of an axis that stays would be told matters to nobody where nobody stores it.
  index::Condition mask_of(const loops::Accumulate& step, const std::vector<loops::Loop>& reduced) const {
    index::Condition mask;
    for (const index::Less& less : step.mask.all) {
      const index::Condition alone{{less}};
      const bool of_reduced = std::ranges::any_of(
          reduced, [&](const loops::Loop& loop) { return index::symbols_of(alone).contains(loop.axis); });
      if (of_reduced || !stores_.all_have(less, step.total)) mask.all.push_back(less);
    }
    return mask;
  }

  const Kernel& kernel_;
  index::Simplifier simplify_;
  Lowering lowering_;
  std::uint32_t next_temp_;
  std::set<index::Symbol> taken_;
  const Stores stores_;
  std::string reason_;
};

}  // namespace

Result lower_reductions(Kernel kernel, Proofs proofs) {
  auto lowered = Lowerer(kernel, proofs).run();
  if (auto* reason = std::get_if<std::string>(&lowered)) return std::move(*reason);
  kernel.program.body = std::get<Ref<Stmt>>(std::move(lowered));
  if (std::string reason = proofs == Proofs::wanted ? why_bad_threads(kernel.program) : ""; !reason.empty())
    return reason;
  return kernel;
}

}  // namespace twinloom::steps
