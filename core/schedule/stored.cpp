// See stored.h.
#include "core/schedule/stored.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <sstream>

#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/loops/rewrite.h"
#include "core/schedule/heuristics.h"

namespace twinloom::schedule {

namespace {

constexpr std::int64_t VERSION = 1;
constexpr std::int64_t MOST_BYTES = 1 << 20;

// Each name of a buffer in it, changed.
Schedule with_buffers(Schedule schedule, const std::function<std::string(const std::string&)>& named) {
  for (TempPlan& plan : schedule.temps) plan.buffer = named(plan.buffer);
  for (PrefetchPlan& plan : schedule.prefetches) plan.buffer = named(plan.buffer);
  for (std::string& buffer : schedule.streams) buffer = named(buffer);
  for (steps::Step& step : schedule.steps) {
    if (auto* cache = std::get_if<steps::Cache>(&step.node)) cache->what = named(cache->what);
    if (auto* store = std::get_if<steps::StoreAt>(&step.node)) store->what = named(store->what);
  }
  return schedule;
}

// t0, t1, ...: the same in all nests that are the same.
bool is_accumulator(std::string_view name) {
  return name.size() > 1 && name.front() == 't' &&
         std::ranges::all_of(name.substr(1), [](char c) { return c >= '0' && c <= '9'; });
}

// The names of one nest in place of those of another one that is the same.
std::string name_in(const loops::Program& to, const loops::Program& from, const std::string& name) {
  for (std::size_t b = 0; b < from.buffers.size(); ++b)
    if (from.buffers[b].name == name) return to.buffers[b].name;
  if (is_accumulator(name)) return name;
  throw Error(cat("the nest has no buffer '", name, "'; its buffers are ",
                  join(from.buffers, ", ", [](const loops::BufferInfo& buffer) { return buffer.name; })));
}

std::string machine_words(const machine::Machine& machine, int threads) {
  const std::string workers = machine.max_threads > 1 ? "" : cat(", ", threads, " threads");
  return cat(machine.name, workers, ", ", hexadecimal(stable_hash(machine::print(machine))));
}

std::string file_name(const StoredKey& key, std::string machine) {
  const auto is_plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-'; };
  std::ranges::replace_if(machine, std::not_fn(is_plain), '_');
  constexpr std::size_t DIGITS = 16;  // of the nest's hash; what the file says of it counts
  const std::uint64_t place = stable_hash(cat(key.machine, "\n", key.sizes));
  return cat(key.nest.substr(0, DIGITS), "-", machine, "-", hexadecimal(place), ".schedule");
}

struct ReadFile {
  StoredKey key;
  StoredSchedule stored;
  int line = 0;  // that the schedule begins in
};

ReadFile parse_file(std::string_view text) {
  Scanner scanner(text, "schedule file");
  ReadFile file;
  scanner.expect("twinloom_schedule");
  const std::int64_t version = scanner.integer();
  if (version != VERSION)
    throw Error(cat("schedule file line ", scanner.line(), ": its version is ", version,
                    "; this Twinloom reads version ", VERSION));
  scanner.expect("nest");
  file.key.nest = scanner.quoted();
  scanner.expect("machine");
  file.key.machine = scanner.quoted();
  scanner.expect("sizes");
  file.key.sizes = scanner.quoted();
  scanner.expect("seconds");
  file.stored.seconds = scanner.real();
  scanner.expect("usual");
  file.stored.usual_seconds = scanner.real();
  if (!scanner.peek("schedule")) scanner.fail("'schedule'");
  file.line = scanner.line();
  file.stored.schedule = schedule::parse(scanner);
  return file;
}

std::string as_comment(const std::string& text) {
  std::istringstream lines(text);
  std::string comment;
  for (std::string line; std::getline(lines, line);) comment += line.empty() ? "#\n" : cat("# ", line, "\n");
  return comment;
}

}  // namespace

StoredFile::StoredFile(const std::filesystem::path& folder, const loops::Program& nest,
                       const machine::Machine& machine, int threads)
    : nest_(nest),
      machine_(machine),
      identity_(loops::identity_of(nest)),
      key_{identity_.hash, machine_words(machine, threads), identity_.sizes},
      path_(folder / file_name(key_, machine.name)) {}

std::optional<StoredSchedule> StoredFile::read() const {
  const auto text = read_if_there(path_, MOST_BYTES);
  return text ? parse(*text) : std::nullopt;
}

std::optional<StoredSchedule> StoredFile::parse(std::string_view text) const {
  const auto mistaken = [&](const std::string& words) {
    return Error(cat("'", escaped(path_.string()), "': ", words));
  };
  ReadFile file;
  try {
    file = parse_file(text);
  } catch (const Error& error) {
    throw mistaken(error.what());
  }
  if (file.key != key_) return std::nullopt;
  const auto illegal = [&](const std::string& words) {
    return mistaken(
        cat("the schedule in line ", file.line, " is not legal for kernel '", nest_.name, "': ", words));
  };
  try {
    file.stored.schedule = with_buffers(
        file.stored.schedule, [&](const std::string& name) { return name_in(nest_, identity_.nest, name); });
  } catch (const Error& error) {
    throw illegal(error.what());
  }
  if (const auto reason = why_illegal(nest_, file.stored.schedule)) throw illegal(*reason);
  if (const auto reason = why_unfit(nest_, file.stored.schedule, machine_)) throw illegal(*reason);
  return std::move(file.stored);
}

void StoredFile::write(const StoredSchedule& stored) const { write_whole(path_, text_of(stored)); }

std::string StoredFile::text_of(const StoredSchedule& stored) const {
  const Schedule named = with_buffers(
      stored.schedule, [&](const std::string& name) { return name_in(identity_.nest, nest_, name); });
  const std::string header = fmt::format(
      "twinloom_schedule {}\nnest \"{}\"\nmachine \"{}\"\nsizes \"{}\"\nseconds {:.2e} usual {:.2e}\n",
      VERSION, key_.nest, escaped(key_.machine), escaped(key_.sizes), stored.seconds, stored.usual_seconds);
  return cat(header, print(named), as_comment(loops::print(identity_.nest)));
}

}  // namespace twinloom::schedule
