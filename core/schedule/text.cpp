// Prints a schedule as the text of schedule.h and reads it back. One line a row; the lists keep their
// order, so parse(print(s)) == s.
#include <initializer_list>

#include "core/schedule/schedule.h"

namespace twinloom::schedule {

namespace {

constexpr std::initializer_list<loops::Place> PLACES = {loops::Place::registers, loops::Place::scratch,
                                                        loops::Place::memory};

int read_int(Scanner& scanner) { return static_cast<int>(scanner.integer_up_to(steps::MOST_NUMBER)); }

SplitPlan read_split(Scanner& scanner) {
  SplitPlan plan;
  plan.sibling = read_int(scanner);
  plan.axis = scanner.word();
  scanner.expect(":");
  if (scanner.peek_number()) {
    plan.factors =
        read_list<std::int64_t>(scanner, [&] { return scanner.integer_up_to(steps::MOST_NUMBER); });
  }
  plan.tail = read_one_of(scanner, steps::TAILS);
  if (scanner.accept("short"))
    plan.shorts = read_list<std::int64_t>(scanner, [&] { return scanner.integer_up_to(steps::MOST_NUMBER); });
  return plan;
}

LoopPlan read_loop(Scanner& scanner) {
  LoopPlan plan;
  plan.sibling = read_int(scanner);
  plan.piece = scanner.word();
  plan.bind = read_one_of(scanner, loops::BINDS);
  return plan;
}

TempPlan read_stage(Scanner& scanner) {
  TempPlan plan;
  plan.buffer = scanner.word();
  scanner.expect("inside");
  plan.inside = scanner.word();
  plan.place = read_one_of(scanner, PLACES);
  scanner.expect("pad");
  plan.pad = read_int(scanner);
  plan.widened = scanner.accept("widened");
  return plan;
}

void read_values(Scanner& scanner, Schedule& schedule) {
  schedule.kept_values = read_int(scanner);
  schedule.kept_place = read_one_of(scanner, PLACES);
}

PrefetchPlan read_prefetch(Scanner& scanner) {
  PrefetchPlan plan;
  plan.buffer = scanner.word();
  scanner.expect("in");
  plan.sibling = read_int(scanner);
  scanner.expect("ahead");
  plan.ahead = read_int(scanner);
  return plan;
}

GridSplit read_grid(Scanner& scanner) {
  GridSplit plan;
  plan.axis = scanner.word();
  scanner.expect("units");
  plan.units = scanner.integer_up_to(steps::MOST_NUMBER);
  if (scanner.accept("threads")) plan.threads = scanner.integer_up_to(steps::MOST_NUMBER);
  return plan;
}

ColumnsPlan read_columns(Scanner& scanner) {
  ColumnsPlan plan;
  scanner.expect("lanes");
  plan.lanes = scanner.integer_up_to(steps::MOST_NUMBER);
  plan.place = read_one_of(scanner, PLACES);
  scanner.expect("width");
  plan.width = scanner.integer_up_to(steps::MOST_NUMBER);
  scanner.expect("units");
  plan.units = scanner.integer_up_to(steps::MOST_NUMBER);
  return plan;
}

ScanSplit read_scan_split(Scanner& scanner) {
  ScanSplit plan;
  plan.axis = scanner.word();
  scanner.expect("chunks");
  plan.chunks = scanner.integer_up_to(steps::MOST_NUMBER);
  scanner.expect("carries");
  plan.carries = scanner.integer_up_to(steps::MOST_NUMBER);
  return plan;
}

// The first word of a step, which "split" of a sibling's axis shares.
std::optional<std::string_view> accept_step(Scanner& scanner) {
  for (const std::string_view word : steps::words())
    if (scanner.accept(word)) return word;
  return std::nullopt;
}

}  // namespace

std::string print(const Schedule& schedule) {
  Writer writer;
  writer.line("schedule");
  const Indented indented(writer);
  const auto same = [](const auto& word) { return cat(word); };
  for (const steps::Step& step : schedule.steps) writer.line(steps::print(step));
  if (const auto& plan = schedule.grid)
    writer.line("grid ", plan->axis, " units ", plan->units,
                plan->threads != 1 ? cat(" threads ", plan->threads) : std::string());
  if (const auto& plan = schedule.columns)
    writer.line("columns lanes ", plan->lanes, " ", name(plan->place), " width ", plan->width, " units ",
                plan->units);
  if (const auto& plan = schedule.scan_split)
    writer.line("split_scan ", plan->axis, " chunks ", plan->chunks, " carries ", plan->carries);
  for (const SplitPlan& plan : schedule.splits)
    writer.line("split ", plan.sibling, " ", plan.axis, " : ", join(plan.factors, ", ", same),
                plan.factors.empty() ? "" : " ", name(plan.tail), plan.shorts.empty() ? "" : " short ",
                join(plan.shorts, ", ", same));
  for (const LoopPlan& plan : schedule.loops)
    writer.line("loop ", plan.sibling, " ", plan.piece, " ", name(plan.bind));
  for (const TempPlan& plan : schedule.temps)
    writer.line("stage ", plan.buffer, " inside ", plan.inside, " ", name(plan.place), " pad ", plan.pad,
                plan.widened ? " widened" : "");
  if (schedule.panel) writer.line("panel");
  if (schedule.transposed_rows) writer.line("transposed_rows");
  if (schedule.outermost_fastest) writer.line("outermost_fastest");
  if (schedule.kept_values != 0) writer.line("values ", schedule.kept_values, " ", name(schedule.kept_place));
  for (const PrefetchPlan& plan : schedule.prefetches)
    writer.line("prefetch ", plan.buffer, " in ", plan.sibling, " ahead ", plan.ahead);
  for (const std::string& buffer : schedule.streams) writer.line("stream ", buffer);
  return writer.take();
}

Schedule parse(std::string_view text) {
  Scanner scanner(text, "schedule");
  return parse(scanner);
}

Schedule parse(Scanner& scanner) {
  scanner.expect("schedule");
  Schedule schedule;
  while (!scanner.at_end()) {
    if (scanner.accept("grid"))
      schedule.grid = read_grid(scanner);
    else if (scanner.accept("columns"))
      schedule.columns = read_columns(scanner);
    else if (scanner.accept("split_scan"))
      schedule.scan_split = read_scan_split(scanner);
    else if (const auto step = accept_step(scanner); step == "split" && scanner.peek_number())
      schedule.splits.push_back(read_split(scanner));
    else if (step)
      schedule.steps.push_back(steps::parse(*step, scanner));
    else if (scanner.accept("loop"))
      schedule.loops.push_back(read_loop(scanner));
    else if (scanner.accept("stage"))
      schedule.temps.push_back(read_stage(scanner));
    else if (scanner.accept("panel"))
      schedule.panel = true;
    else if (scanner.accept("transposed_rows"))
      schedule.transposed_rows = true;
    else if (scanner.accept("outermost_fastest"))
      schedule.outermost_fastest = true;
    else if (scanner.accept("values"))
      read_values(scanner, schedule);
    else if (scanner.accept("prefetch"))
      schedule.prefetches.push_back(read_prefetch(scanner));
    else if (scanner.accept("stream"))
      schedule.streams.push_back(scanner.word());
    else
      scanner.fail(
          "grid, columns, split_scan, split, loop, panel, transposed_rows, outermost_fastest, "
          "stage, values, prefetch, stream, fuse, reorder, cache, store_at, distribute or bind");
  }
  return schedule;
}

}  // namespace twinloom::schedule
