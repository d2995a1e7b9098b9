// See machine.h. The form is
//   machine "cpu-avx2" model "a CPU" { vector_bytes 32 ... level "L1" { bytes 32768 ... } ... }
#include "core/machine/machine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/base/scanner.h"
#include "core/base/text.h"
#include "core/machine/facts.h"

namespace twinloom::machine {

namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : scanner_(text, "machine") {}

  Machine machine() {
    Machine machine;
    scanner_.expect("machine");
    machine.name = scanner_.quoted();
    scanner_.expect("model");
    machine.model = scanner_.quoted();
    facts([&](auto&& visit) { for_each_fact(machine, machine, visit); }, [&] { return level(machine); });
    if (!scanner_.at_end()) scanner_.fail("the end of the text");
    if (machine.memory.empty()) throw Error("machine: it has no level of memory");
    return machine;
  }

 private:
  bool level(Machine& machine) {
    if (!scanner_.accept("level")) return false;
    MemoryLevel level;
    level.name = scanner_.quoted();
    facts([&](auto&& visit) { for_each_fact_of_levels(level, level, visit); }, [] { return false; });
    machine.memory.push_back(std::move(level));
    return true;
  }

  // Those in one pair of braces; `other` takes what is none, and says whether it did. What a caller decides
  // may be left out and stays as it is: files of measured times outlive the facts that were known with them.
  template <class ForEach, class Other>
  void facts(ForEach&& for_each, Other&& other) {
    struct Seen {
      bool is_needed = true;
      bool is_given = false;
    };
    std::map<std::string, Seen, std::less<>> seen;
    for_each([&](std::string_view name, auto&, auto&, From from) {
      seen.emplace(name, Seen{.is_needed = from != From::caller});
    });
    scanner_.expect("{");
    while (!scanner_.accept("}")) {
      if (other()) continue;
      const std::string name = scanner_.word();
      const auto found = seen.find(name);
      if (found == seen.end() || found->second.is_given)
        scanner_.fail(cat("a fact that was not given yet instead of '", name, "'"));
      found->second.is_given = true;
      for_each([&](std::string_view known, auto& fact, auto&, From) {
        if (known == name) read(fact);
      });
    }
    for (const auto& [name, fact] : seen)
      if (fact.is_needed && !fact.is_given)
        throw Error(cat("machine: '", name, "' is missing before line ", scanner_.line()));
  }

  template <class Fact>
  void read(Fact& fact) {
    if constexpr (std::is_same_v<Fact, double>) {
      fact = scanner_.real();
      if (!std::isfinite(fact) || fact < 0) scanner_.fail("a number that is not negative before this place");
    } else {
      const std::int64_t number = scanner_.integer();
      if (number < 0 || number > static_cast<std::int64_t>(std::numeric_limits<Fact>::max()))
        scanner_.fail("a smaller number before this place");
      fact = static_cast<Fact>(number);
    }
  }

  Scanner scanner_;
};

template <class Fact>
std::string spelled(const Fact& fact) {
  if constexpr (std::is_same_v<Fact, bool>)
    return fact ? "1" : "0";
  else
    return cat(fact);
}

}  // namespace

int workers_for(const Machine& machine, double bytes, double tasks, int most) {
  const bool is_worth_it = bytes >= machine.worth_a_thread_seconds * machine.memory.back().bytes_per_second;
  return is_worth_it ? static_cast<int>(std::clamp(tasks, 1.0, static_cast<double>(std::max(most, 1)))) : 1;
}

std::int64_t level_bytes(const Machine& machine, std::string_view name) {
  const auto level = std::ranges::find(machine.memory, name, &MemoryLevel::name);
  return level == machine.memory.end() ? 0 : level->bytes;
}

std::int64_t cache_bytes(const Machine& machine) {
  std::int64_t most = 0;
  for (const MemoryLevel& level : machine.memory) most = std::max(most, level.bytes * machine.blocks_at_once);
  return most;
}

std::string print(const Machine& machine) {
  Writer writer;
  const auto write = [&](std::string_view name, const auto& fact, const auto&, From) {
    writer.line(name, " ", spelled(fact));
  };
  writer.line("machine \"", escaped(machine.name), "\" model \"", escaped(machine.model), "\" {");
  {
    const Indented indented(writer);
    for_each_fact(machine, machine, write);
    for (const MemoryLevel& level : machine.memory) {
      writer.line("level \"", escaped(level.name), "\" {");
      {
        const Indented inside(writer);
        for_each_fact_of_levels(level, level, write);
      }
      writer.line("}");
    }
  }
  writer.line("}");
  return writer.take();
}

Machine parse(std::string_view text) { return Reader(text).machine(); }

}  // namespace twinloom::machine
