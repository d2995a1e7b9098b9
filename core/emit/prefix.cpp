// What stands before each copy of a total: the part of Totals that has Prefix.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/emit/spelling.h"
#include "core/emit/totals.h"

namespace twinloom::emit {

void Totals::prefix(const loops::Prefix& prefix) {
  const Total& total = values_.total(prefix.total);
  const bool along_lanes = total.across == prefix.across;
  const auto of_threads = std::ranges::find(total.of_threads, prefix.across, &Total::Copies::axis);
  const bool along_threads = of_threads != total.of_threads.end();
  const bool again = threads_.wait_again(prefix.total, prefix.across) || walks_by_loops(total);
  Total before = total;
  Total all = total;
  before.level = all.level = scopes_.level();
  if (along_lanes) {
    all.lanes = 1;
    all.across.reset();
  } else {
    const auto across = [&](const Total::Copies& of) { return of.axis == prefix.across; };
    std::erase_if(all.copies, across);
    std::erase_if(all.of_threads, across);
  }
  const int number = scopes_.next_number();
  for (int part = 0; part < part_count(total); ++part) {
    before.names[static_cast<std::size_t>(part)] = cat("t", number, "_before", part == 0 ? "" : "_place");
    all.names[static_cast<std::size_t>(part)] = cat("t", number, "_all", part == 0 ? "" : "_place");
  }
  declare(before, scopes_.level());
  declare(all, scopes_.level());
  fill_with_identity(all);
  for_each_member(total, prefix.across, [&](const Places& places) {
    if (along_lanes)
      prefix_lanes(before, all, total, places);
    else if (along_threads && threads_.exchange_prefix(prefix.total, prefix.across))
      prefix_warps(before, all, total, of_threads->extent, places, again);
    else if (along_threads)
      prefix_threads(before, all, total, *of_threads, places, again);
    else
      prefix_copies(before, all, total, prefix.across, places);
  });
  values_.set_total(prefix.before, std::move(before));
  values_.set_total(prefix.all, std::move(all));
}

// `all` runs from left to right; before(r) is what it was when it came to r.
void Totals::prefix_copies(const Total& before, const Total& all, const Total& total, loops::Axis across,
                           const Places& places) {
  std::int64_t extent = 1;
  for (const Total::Copies& copies : total.copies)
    if (copies.axis == across) extent = copies.extent;
  const Parts running = members(all, places);
  const auto step = [&](const std::string& at) {
    Places here = places;
    here[across] = at;
    const Parts target = members(before, here);
    for (std::size_t part = 0; part < target.size(); ++part) assign(total, target[part], running[part]);
    combine_into(total, running, running, members(total, here), total.lanes);
  };
  if (extent <= written_out(total) / 2) {
    for (std::int64_t at = 0; at < extent; ++at) step(cat(at));
    return;
  }
  const std::string name = scopes_.fresh("k");
  scopes_.open();
  step(name);
  scopes_.close(counted(name, cat(extent)), "}");
}

// Through scratch, from which every thread takes all members one after the other.
void Totals::prefix_threads(const Total& before, const Total& all, const Total& total,
                            const Total::Copies& across, const Places& places, bool again) {
  const std::int64_t width = threads_.width(across.axis), extent = across.extent;
  CHECK(is_power_of_two(width) && is_power_of_two(extent), "a prefix across ", extent, " members of ", width,
        " threads");
  const Parts arrays = in_scratch(total, members(total, places), width);
  scopes_.line(dialect_.sync());
  const Parts running = members(all, places), target = members(before, places);
  const std::string member = scopes_.fresh("k"), at = scopes_.fresh("k");
  scopes_.line(cat("const i32 ", member, " = i32(thread / ", width, " % ", extent, ");"));
  for (std::size_t part = 0; part < target.size(); ++part) assign(total, target[part], running[part]);
  scopes_.open();
  Parts next;
  for (std::size_t part = 0; part < arrays.size(); ++part)
    next.push_back(vectors_.lanes_of(
        cat(arrays[part], "[thread / ", width * extent, " * ", extent, " + ", at, "]"), total.lanes));
  combine_into(total, running, running, next, total.lanes);
  for (std::size_t part = 0; part < target.size(); ++part)
    scopes_.line(cat("if (i32(", at, ") + 1 == ", member, ") ",
                     vectors_.assignment(target[part], running[part], total.lanes)));
  scopes_.close(cat("TWINLOOM_UNROLL ", counted(at, cat(extent))), "}");
  if (again) scopes_.line(dialect_.sync());
}

// In any order: what stands before a thread in its warp by exchange of registers, log2 of its threads steps,
// then the whole warps before it through scratch where there are several.
void Totals::prefix_warps(const Total& before, const Total& all, const Total& total, std::int64_t extent,
                          const Places& places, bool again) {
  const ops::DType dtype = part_type(total, 0);
  const Parts running = members(all, places), target = members(before, places);
  const std::string lane = scopes_.fresh("k"), up_to_here = scopes_.fresh("v");
  const auto combined_with = [&](const std::string& left, const std::string& right) {
    return values_.spelled(spelling(total.monoid, total.element), {left, right});
  };
  const auto of_thread_below = [&](const std::string& distance) {
    return cat("from_lane(", up_to_here, ", thread % ", WARP_THREADS, " - ", distance, ")");
  };
  const std::int64_t together = std::min(extent, WARP_THREADS);
  scopes_.line(cat("const i32 ", lane, " = i32(thread % ", together, ");"));
  scopes_.line(vectors_.definition(dtype, up_to_here, members(total, places).front(), 1, false));
  const std::string below = scopes_.fresh("v");
  for (std::int64_t distance = 1; distance < together; distance *= 2) {
    scopes_.open();
    scopes_.line(vectors_.definition(dtype, below, of_thread_below(cat(distance)), 1));
    scopes_.line(cat("if (", lane, " >= ", distance, ") ",
                     vectors_.assignment(up_to_here, combined_with(below, up_to_here), 1)));
    scopes_.close("{", "}");
  }
  assign(total, target.front(), running.front());
  if (extent > WARP_THREADS) {
    prefix_of_warps(total, target, running, up_to_here, extent);
  } else {
    const std::string last = cat("from_lane(", up_to_here, ", thread % ", WARP_THREADS, " / ", together,
                                 " * ", together, " + ", together - 1, ")");
    assign(total, running.front(), last);
  }
  scopes_.line(vectors_.definition(dtype, below, of_thread_below("1"), 1));
  scopes_.line(cat("if (", lane, " > 0) ",
                   vectors_.assignment(target.front(), combined_with(target.front(), below), 1)));
  if (again && extent > WARP_THREADS) scopes_.line(dialect_.sync());
}

void Totals::prefix_of_warps(const Total& total, const Parts& target, const Parts& running,
                             const std::string& up_to_here, std::int64_t extent) {
  const std::string array = in_scratch(total, {up_to_here}, 1).front(), at = scopes_.fresh("k");
  scopes_.line(dialect_.sync());
  scopes_.open();
  const std::string last = cat(array, "[thread / ", extent, " * ", extent, " + ", at, " * ", WARP_THREADS,
                               " + ", WARP_THREADS - 1, "]");
  combine_into(total, running, running, {last}, 1);
  scopes_.line(cat("if (i32(", at, ") + 1 == i32(thread % ", extent, " / ", WARP_THREADS, ")) ",
                   vectors_.assignment(target.front(), running.front(), 1)));
  scopes_.close(cat("TWINLOOM_UNROLL ", counted(at, cat(extent / WARP_THREADS))), "}");
}

// The lanes go through memory: a loop over elements of a register would spill at every step.
void Totals::prefix_lanes(const Total& before, const Total& all, const Total& total, const Places& places) {
  const Parts source = members(total, places);
  const Parts target = members(before, places);
  const Parts running = members(all, places);
  Parts arrays;
  scopes_.open();
  for (int part = 0; part < part_count(total); ++part) {
    const auto at = static_cast<std::size_t>(part);
    const ops::DType dtype = part_type(total, part);
    arrays.push_back(scopes_.fresh("t"));
    scopes_.line(
        dialect_.array(dialect_.memory_type(dtype), arrays[at], cat(total.lanes), loops::Place::registers));
    const std::string stored = dialect_.stored(dtype, source[at]);
    if (vectors_.apart(total.lanes))
      assign(total, vectors_.element(arrays[at]), stored);
    else
      scopes_.line(cat("store(", arrays[at], ", ", stored, ");"));
  }
  const std::string name = scopes_.fresh("k");
  scopes_.open();
  Parts member;
  for (int part = 0; part < part_count(total); ++part) {
    const auto at = static_cast<std::size_t>(part);
    const ops::DType dtype = part_type(total, part);
    member.push_back(scopes_.fresh("v"));
    scopes_.line(cat("const ", dialect_.type(dtype, 1), " ", member[at], " = ",
                     dialect_.loaded(dtype, cat(arrays[at], "[", name, "]")), ";"));
    scopes_.line(cat(arrays[at], "[", name, "] = ", dialect_.stored(dtype, running[at]), ";"));
  }
  combine_into(total, running, running, member, 1);
  scopes_.close(counted(name, cat(total.lanes)), "}");
  for (int part = 0; part < part_count(total); ++part) {
    const auto at = static_cast<std::size_t>(part);
    const ops::DType dtype = part_type(total, part);
    const bool apart = vectors_.apart(total.lanes);
    const std::string kept =
        apart ? vectors_.element(arrays[at]) : cat("load<", total.lanes, ">(", arrays[at], ")");
    assign(total, target[at], dialect_.loaded(dtype, kept));
  }
  scopes_.close("{", "}");
}

}  // namespace twinloom::emit
