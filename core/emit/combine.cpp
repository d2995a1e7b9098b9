// Copies of a total made one: the part of Totals that has Combine and Prefix.
#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/emit/spelling.h"
#include "core/emit/totals.h"

namespace twinloom::emit {

namespace {

constexpr std::int64_t WARP_THREADS = 32;  // that exchange registers directly

// How far apart those are that a step of 1, 2, 4, ... combines: half the members at first, or one.
std::int64_t distance_at(std::int64_t step, std::int64_t extent, bool halves) {
  return halves ? extent / (2 * step) : step;
}

}  // namespace

std::int64_t Totals::written_out(const Total& total) { return total.in_memory ? 4 : 32; }

void Totals::combine(const loops::Combine& combine, std::int64_t span) {
  Total& total = values_.total(combine.total);
  if (total.across == combine.across)
    combine_lanes(total, combine.total, combine.pairing);
  else if (std::ranges::find(total.of_threads, combine.across, &Total::Copies::axis) !=
           total.of_threads.end())
    combine_threads(total, combine, span);
  else
    combine_copies(total, combine.across, combine.pairing);
  scopes_.forget({.buffer = {}, .total = combine.total});
}

// halves: l and l + h, with h falling; neighbours: l and l + s for the l that 2s divides, with s rising.
// Either way member 0 has the whole in the end.
void Totals::combine_copies(Total& total, loops::Axis across, loops::Pairing pairing) {
  const auto copies = std::find_if(total.copies.begin(), total.copies.end(),
                                   [&](const Total::Copies& of) { return of.axis == across; });
  CHECK(copies != total.copies.end(), "combine across ", across, ", along which there are no copies");
  const std::int64_t extent = copies->extent;
  CHECK(is_power_of_two(extent), "combine across ", extent, " copies");
  const bool halves = pairing == loops::Pairing::halves;
  for_each_member(total, across, [&](Places places) {
    const auto pair = [&](const std::string& at, const std::string& other) {
      places[across] = at;
      const Parts left = members(total, places);
      places[across] = other;
      combine_into(total, left, left, members(total, places), total.lanes);
    };
    if (extent > written_out(total)) return combine_by_loops(extent, halves, pair);
    for (std::int64_t step = 1; step < extent; step *= 2) {
      const std::int64_t distance = distance_at(step, extent, halves);
      const std::int64_t pairs = extent / (2 * step);
      const std::int64_t apart = halves ? 1 : 2 * step;
      for (std::int64_t at = 0; at < pairs; ++at) pair(cat(at * apart), cat(at * apart + distance));
    }
  });
  copies->combined = true;
}

void Totals::combine_by_loops(std::int64_t extent, bool halves, const Pair& pair) {
  const std::string step = scopes_.fresh("k");
  const std::string at = scopes_.fresh("k");
  scopes_.open();
  scopes_.open();
  pair(at, cat("(", at, " + ", step, ")"));
  if (halves) {
    scopes_.close(counted(at, step), "}");
    scopes_.close(cat("for (i64 ", step, " = ", extent / 2, "; ", step, " > 0; ", step, " /= 2) {"), "}");
  } else {
    scopes_.close(cat("for (i64 ", at, " = 0; ", at, " < ", extent, "; ", at, " += 2 * ", step, ") {"), "}");
    scopes_.close(cat("for (i64 ", step, " = 1; ", step, " < ", extent, "; ", step, " *= 2) {"), "}");
  }
}

void Totals::combine_threads(Total& total, const loops::Combine& combine, std::int64_t span) {
  const auto copies = std::ranges::find(total.of_threads, combine.across, &Total::Copies::axis);
  const std::int64_t extent = copies->extent;
  const std::int64_t width = threads_.width(combine.across);
  const loops::Pairing pairing = combine.pairing;
  CHECK(is_power_of_two(extent) && is_power_of_two(width), "combine across ", extent, " members of ", width,
        " threads");
  if (extent * width <= WARP_THREADS)
    combine_in_warp(total, extent, width, pairing == loops::Pairing::halves);
  else
    combine_in_block(total, extent, width, pairing);
  total.of_threads.erase(copies);
  for (const Total::Copies& left : total.of_threads) span = std::min(span, threads_.width(left.axis));
  if (extent * width != span) hand_out(total, span);
}

// What the first thread of so many has, for those too that are no member of the loop. Threads that are
// members of another loop along which there are copies still have totals of their own.
void Totals::hand_out(const Total& total, std::int64_t span) {
  CHECK(is_power_of_two(span), "a total for ", span, " threads");
  for_each_member(total, std::nullopt, [&](const Places& places) {
    const Parts own = members(total, places);
    if (span <= WARP_THREADS) {
      for (int part = 0; part < part_count(total); ++part) {
        const std::string& name = own[static_cast<std::size_t>(part)];
        const std::string from = cat(", int(thread % ", WARP_THREADS, " / ", span, " * ", span, "))");
        assign(total, name, received(total, part, "from_lane(", name, from));
      }
      return;
    }
    const Parts arrays = in_scratch(total, own, span);
    for (std::size_t part = 0; part < own.size(); ++part)
      assign(total, own[part], vectors_.lanes_of(cat(arrays[part], "[thread / ", span, "]"), total.lanes));
    scopes_.line(dialect_.sync());
  });
}

// What a function that exchanges registers of a warp gives: words, of which small lanes share one.
std::string Totals::received(const Total& total, int part, const std::string& function,
                             const std::string& own, const std::string& from) {
  const ops::DType dtype = part_type(total, part);
  if (!vectors_.apart(total.lanes) || ops::size_of(dtype) >= 4) return cat(function, own, from);
  const std::string name = scopes_.fresh("t");
  const std::string whole = vectors_.whole(own, dialect_.type(dtype, 1), total.lanes);
  scopes_.line(
      cat("const ", dialect_.type(dtype, total.lanes), " ", name, " = ", function, whole, from, ";"));
  return vectors_.lanes_of(name, total.lanes);
}

// Arrays with what the first of every so many threads has, to be read by all and waited for before they are
// written again.
Totals::Parts Totals::in_scratch(const Total& total, const Parts& own, std::int64_t threads) {
  Parts arrays;
  for (int part = 0; part < part_count(total); ++part) {
    arrays.push_back(scopes_.fresh("t"));
    scopes_.line(dialect_.array(dialect_.type(part_type(total, part), total.lanes), arrays.back(),
                                cat(threads_.count() / threads), loops::Place::scratch));
  }
  for (std::size_t part = 0; part < arrays.size(); ++part) {
    const std::string place = cat(arrays[part], threads == 1 ? "[thread]" : cat("[thread / ", threads, "]"));
    scopes_.line(cat(threads == 1 ? "" : cat("if (thread % ", threads, " == 0) "),
                     vectors_.assignment(vectors_.lanes_of(place, total.lanes), own[part], total.lanes)));
  }
  scopes_.line(dialect_.sync());
  return arrays;
}

// Member l is combined with member l ^ step, so that in the end each has the whole: the combine of two totals
// does not depend on which is left.
void Totals::combine_in_warp(const Total& total, std::int64_t extent, std::int64_t width, bool halves) {
  for_each_member(total, std::nullopt, [&](const Places& places) {
    exchange(total, members(total, places), extent, width, halves);
  });
}

void Totals::exchange(const Total& total, const Parts& own, std::int64_t extent, std::int64_t width,
                      bool halves) {
  for (std::int64_t step = 1; step < extent; step *= 2) {
    const std::int64_t distance = distance_at(step, extent, halves);
    Parts other;
    for (int part = 0; part < part_count(total); ++part) {
      other.push_back(vectors_.variable(scopes_.fresh("t"), total.lanes));
      const std::string text = received(total, part, "from_lane_across(", own[static_cast<std::size_t>(part)],
                                        cat(", ", distance * width, ")"));
      scopes_.line(vectors_.definition(part_type(total, part), other.back(), text, total.lanes));
    }
    combine_into(total, own, own, other, total.lanes);
  }
}

// Members of less than a warp: neighbours are combined within the warps first, halves within them at last.
void Totals::combine_in_block(const Total& total, std::int64_t extent, std::int64_t width,
                              loops::Pairing pairing) {
  const bool halves = pairing == loops::Pairing::halves;
  const std::int64_t of_warp = width < WARP_THREADS ? WARP_THREADS / width : 1;
  if (!halves && of_warp > 1) combine_in_warp(total, of_warp, width, halves);
  if (halves && of_warp > 1)
    combine_places(total, extent / of_warp);
  else
    combine_warps(total, extent / of_warp, std::max(width, WARP_THREADS), halves);
  if (halves && of_warp > 1) combine_in_warp(total, of_warp, width, halves);
}

// Through scratch: every warp takes what the first threads of so many members have, a member a lane, and
// combines them as its own.
void Totals::combine_warps(const Total& total, std::int64_t extent, std::int64_t width, bool halves) {
  CHECK(extent <= WARP_THREADS, "a combine of ", extent, " warps");
  for_each_member(total, std::nullopt, [&](const Places& places) {
    const Parts own = members(total, places);
    const Parts arrays = in_scratch(total, own, width);
    const std::string row =
        width * extent == threads_.count() ? "" : cat("thread / ", width * extent, " * ", extent, " + ");
    for (std::size_t part = 0; part < own.size(); ++part)
      assign(total, own[part],
             vectors_.lanes_of(cat(arrays[part], "[", row, "thread % ", extent, "]"), total.lanes));
    exchange(total, own, extent, 1, halves);
    scopes_.line(dialect_.sync());
  });
}

// Through scratch, from which every thread takes what the threads at its place in so many warps have, and
// combines them by halves.
void Totals::combine_places(const Total& total, std::int64_t extent) {
  for_each_member(total, std::nullopt, [&](const Places& places) {
    const Parts own = members(total, places);
    const loops::Axis member("member");
    Total gathered = total;
    gathered.copies = {{member, extent}};
    gathered.of_threads.clear();
    const int number = scopes_.next_number();
    for (std::size_t part = 0; part < own.size(); ++part)
      gathered.names[part] = cat("t", number, part == 0 ? "" : "_place");
    const Parts arrays = in_scratch(total, own, 1);
    declare(gathered, scopes_.level());
    const std::int64_t threads = WARP_THREADS * extent;
    for (std::int64_t at = 0; at < extent; ++at) {
      const Parts target = members(gathered, {{member, cat(at)}});
      for (std::size_t part = 0; part < arrays.size(); ++part)
        assign(total, target[part],
               vectors_.lanes_of(cat(arrays[part], "[thread / ", threads, " * ", threads, " + ",
                                     at * WARP_THREADS, " + thread % ", WARP_THREADS, "]"),
                                 total.lanes));
    }
    combine_copies(gathered, member, loops::Pairing::halves);
    const Parts whole = members(gathered, {{member, "0"}});
    for (std::size_t part = 0; part < arrays.size(); ++part) assign(total, own[part], whole[part]);
    scopes_.line(dialect_.sync());
  });
}

// The same where lanes are apart: lane i and the one it is combined with.
Totals::Parts Totals::halved_apart(const Total& total, Parts parts, int lanes, bool halves) {
  Parts all;
  for (int part = 0; part < part_count(total); ++part)
    all.push_back(vectors_.variable(scopes_.fresh("t"), lanes));
  for (int lane = 0; lane < lanes; ++lane) {
    Parts left, right, target;
    for (std::size_t part = 0; part < parts.size(); ++part) {
      left.push_back(of_lane(parts[part], halves ? lane : 2 * lane));
      right.push_back(of_lane(parts[part], halves ? lane + lanes : 2 * lane + 1));
      target.push_back(of_lane(all[part], lane));
    }
    define_combined(total, target, left, right, 1);
  }
  return all;
}

// One register to one element: each step combines its two halves.
Totals::Parts Totals::halved(const Total& total, Parts parts, loops::Pairing pairing) {
  const bool halves = pairing == loops::Pairing::halves;
  for (int lanes = total.lanes / 2; lanes >= 1; lanes /= 2) {
    if (vectors_.apart(total.lanes)) {
      parts = halved_apart(total, parts, lanes, halves);
      continue;
    }
    Parts left, right, target;
    for (int part = 0; part < part_count(total); ++part) {
      const auto at = static_cast<std::size_t>(part);
      left.push_back(cat(halves ? "low(" : "even(", parts[at], ")"));
      right.push_back(cat(halves ? "high(" : "odd(", parts[at], ")"));
      target.push_back(scopes_.fresh("t"));
    }
    define_combined(total, target, left, right, lanes);
    parts = target;
  }
  return parts;
}

void Totals::combine_lanes(Total& total, loops::Temp temp, loops::Pairing pairing) {
  Total single = total;
  single.lanes = 1;
  single.across.reset();
  std::erase_if(single.copies, [](const Total::Copies& copies) { return copies.combined; });
  const int number = scopes_.next_number();
  for (int part = 0; part < part_count(total); ++part)
    single.names[static_cast<std::size_t>(part)] = cat("t", number, part == 0 ? "" : "_place");
  declare(single, total.level);
  for_each_member(total, std::nullopt, [&](const Places& places) {
    const Parts whole = halved(total, members(total, places), pairing);
    const Parts target = members(single, places);
    for (std::size_t part = 0; part < target.size(); ++part) assign(single, target[part], whole[part]);
  });
  values_.set_total(temp, std::move(single));
}

void Totals::prefix(const loops::Prefix& prefix) {
  const Total& total = values_.total(prefix.total);
  const bool along_lanes = total.across == prefix.across;
  const auto of_threads = std::ranges::find(total.of_threads, prefix.across, &Total::Copies::axis);
  const bool along_threads = of_threads != total.of_threads.end();
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
    else if (along_threads)
      prefix_threads(before, all, total, *of_threads, places);
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
                            const Total::Copies& across, const Places& places) {
  const std::int64_t width = threads_.width(across.axis), extent = across.extent;
  CHECK(is_power_of_two(width) && is_power_of_two(extent), "a prefix across ", extent, " members of ", width,
        " threads");
  const Parts arrays = in_scratch(total, members(total, places), width);
  const Parts running = members(all, places), target = members(before, places);
  const std::string member = scopes_.fresh("k"), at = scopes_.fresh("k");
  scopes_.line(cat("const i64 ", member, " = thread / ", width, " % ", extent, ";"));
  for (std::size_t part = 0; part < target.size(); ++part) assign(total, target[part], running[part]);
  scopes_.open();
  Parts next;
  for (std::size_t part = 0; part < arrays.size(); ++part)
    next.push_back(vectors_.lanes_of(
        cat(arrays[part], "[thread / ", width * extent, " * ", extent, " + ", at, "]"), total.lanes));
  combine_into(total, running, running, next, total.lanes);
  for (std::size_t part = 0; part < target.size(); ++part)
    scopes_.line(cat("if (", at, " + 1 == ", member, ") ",
                     vectors_.assignment(target[part], running[part], total.lanes)));
  scopes_.close(cat("TWINLOOM_UNROLL ", counted(at, cat(extent))), "}");
  scopes_.line(dialect_.sync());
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
