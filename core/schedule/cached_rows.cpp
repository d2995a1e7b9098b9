// See cached_rows.h.
#include "core/schedule/cached_rows.h"

#include <algorithm>

namespace twinloom::schedule {

namespace {

// Where a multiprocessor has so few elements, no other warps hide what one waits for, and registers are left:
// a layer norm of 32 rows of 768 took an H200 4.35 us with its weights loaded beside the row, 4.80 behind the
// totals, by 1, 2 or 6 warps a row.
constexpr double FEW_AHEAD = 4096;
constexpr std::int64_t REGISTER_BYTES_AHEAD = 512;

// What is alive between two siblings, in bytes of one element of the row.
class Alive {
 public:
  explicit Alive(std::size_t siblings) : bytes_(siblings) {}
  void add(const std::vector<std::size_t>& users, std::int64_t bytes) {
    for (std::size_t at = users.front(); at < users.back(); ++at) bytes_[at] += bytes;
  }
  std::int64_t most() const { return *std::ranges::max_element(bytes_); }

 private:
  std::vector<std::int64_t> bytes_;
};

// The loop in whose iterations a row stays the same.
std::string innermost_common(const Plan& plan) {
  return std::string(plan.common.piece(plan.common.order.back()).symbol.name());
}

}  // namespace

std::vector<TempPlan> cached_rows(const Plan& plan, loops::Place place) {
  std::vector<TempPlan> temps;
  if (plan.common.order.empty()) return temps;
  for (const loops::BufferInfo& info : plan.nest.buffers) {
    if (info.written || info.local) continue;
    const bool widened =
        place == loops::Place::scratch && !plan.kept.empty() && ops::is_16_bit_float(info.dtype);
    const TempPlan temp{info.name, place, innermost_common(plan), 0, widened};
    const auto result = stage(plan, temp);
    const auto* staged = std::get_if<Staged>(&result);
    if (staged != nullptr && !staged->ahead) temps.push_back(temp);
  }
  return temps;
}

std::vector<TempPlan> cached_tiles(const Plan& plan) {
  std::vector<TempPlan> temps;
  for (const loops::BufferInfo& info : plan.nest.buffers) {
    const TempPlan temp{info.name, loops::Place::scratch, TASK, 1};
    if (!info.written && std::holds_alternative<Staged>(stage(plan, temp))) temps.push_back(temp);
  }
  return temps;
}

std::int64_t bytes_of_element(const Plan& plan, const Situation& situation) {
  Alive alive(situation.siblings.size());
  for (const Staged& staged : plan.staged) {
    const ops::DType dtype = plan.nest.buffers[staged.buffer.index].dtype;
    const int least = staged.place == loops::Place::registers ? 4 : 1;
    alive.add(staged.siblings,
              std::max(least, ops::size_of(staged.widened ? ops::compute_type(dtype) : dtype)));
  }
  for (const loops::Scratch& array : plan.kept)
    alive.add(users_of(plan.shape, array.buffer),
              std::max(4, ops::size_of(plan.nest.buffers[array.buffer.index].dtype)));
  return alive.most();
}

Schedule loading_ahead(const Forms& forms, const Situation& situation, std::int64_t elements,
                       Schedule schedule) {
  const auto row = static_cast<double>(situation.usual(situation.siblings.front()->loops.back()));
  if (situation.rows() * row > FEW_AHEAD * situation.machine.multiprocessors) return schedule;
  const Plan& plan = std::get<Plan>(forms.resolved(schedule));
  for (const loops::BufferInfo& info : plan.nest.buffers) {
    const TempPlan temp{info.name, loops::Place::registers, innermost_common(plan), 0};
    if (info.written || info.local || std::ranges::find(schedule.temps, temp) != schedule.temps.end())
      continue;
    Schedule more = schedule;
    more.temps.push_back(temp);
    const auto* held = std::get_if<Plan>(&forms.resolved(more));
    if (held != nullptr && elements * bytes_of_element(*held, situation) <= REGISTER_BYTES_AHEAD)
      schedule = std::move(more);
  }
  return schedule;
}

}  // namespace twinloom::schedule
