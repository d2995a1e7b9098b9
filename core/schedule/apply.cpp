// The law's door and the mechanics' frame: common loops, and in them the items of the nest one after the
// other, each sibling built by the sort of totals it has.
#include "core/base/error.h"
#include "core/schedule/build.h"
#include "core/schedule/tidy.h"

namespace twinloom::schedule {

namespace {

bool is_call(const loops::Program& nest) {
  const loops::Nest shape = loops::take_apart(nest);
  if (shape.items.size() != 1) return false;
  const auto* stmt = std::get_if<Ref<Stmt>>(&shape.items.front());
  return stmt != nullptr && std::holds_alternative<loops::Call>((*stmt)->node);
}

class Applier {
 public:
  explicit Applier(const Plan& plan) : plan_(plan), names_(plan) {
    for (const loops::Item& item : plan.shape.items) {
      const auto* stmt = std::get_if<Ref<Stmt>>(&item);
      if (stmt == nullptr) continue;
      if (const auto* start = std::get_if<loops::Start>(&(*stmt)->node)) starts_.emplace(start->total, *start);
    }
  }

  loops::Program build() {
    Surroundings outside;
    loops::for_each_stmt(*plan_.nest.body, [&](const Stmt& stmt) {
      if (const auto* index = std::get_if<loops::Index>(&stmt.node)) outside.found.insert(index->symbol);
    });
    const auto innermost = [&](const Surroundings& here) { return items(here); };
    loops::Program program = plan_.nest;
    const Ref<Stmt> body = Walk(plan_.common, outside, names_).run(innermost, {});
    program.body = tidy(body, loops::facts_of(plan_.nest));
    program.buffers = names_.buffers();
    return program;
  }

 private:
  Ref<Stmt> items(const Surroundings& here) {
    std::vector<Ref<Stmt>> result;
    std::size_t number = 0;
    for (const loops::Item& item : plan_.shape.items) {
      if (const auto* sibling = std::get_if<loops::Sibling>(&item)) {
        result.push_back(build_sibling({plan_, plan_.siblings[number++], *sibling, starts_}, here));
        continue;
      }
      const auto& stmt = std::get<Ref<Stmt>>(item);
      // A total is started by the sibling that reaches it.
      if (!std::holds_alternative<loops::Start>(stmt->node)) result.push_back(settle(stmt, here));
    }
    return loops::block(std::move(result));
  }

  Ref<Stmt> build_sibling(const SiblingSource& source, const Surroundings& here) {
    switch (source.scope.reach) {
      case Reach::none:
        return build_stores(source, here, names_);
      case Reach::any:
        return build_any(source, here, names_);
      case Reach::canonical:
        return build_canonical(source, here, names_);
      case Reach::scan:
        return build_scan(source, here, names_);
    }
    throw Bug("a sort of total without a builder");
  }

  const Plan& plan_;
  Names names_;
  std::map<Temp, loops::Start> starts_;
};

}  // namespace

std::optional<std::string> why_illegal(const loops::Program& nest, const Schedule& schedule) {
  if (is_call(nest)) {
    if (schedule == Schedule{}) return std::nullopt;
    return "a routine's call has no loops to schedule";
  }
  auto resolved = resolve(nest, schedule);
  if (auto* reason = std::get_if<std::string>(&resolved)) return std::move(*reason);
  return std::nullopt;
}

std::vector<loops::Program> apply(const loops::Program& nest, const Schedule& schedule) {
  if (is_call(nest)) return {nest};
  const auto resolved = resolve(nest, schedule);
  const auto* plan = std::get_if<Plan>(&resolved);
  CHECK(plan != nullptr, "the schedule is illegal: ", *std::get_if<std::string>(&resolved), "\n",
        loops::print(nest), print(schedule));
  return {Applier(*plan).build()};
}

}  // namespace twinloom::schedule
