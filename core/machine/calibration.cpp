// See calibration.h.
#include "core/machine/calibration.h"

#include <cmath>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/machine/facts.h"

namespace twinloom::machine {

namespace {

double to_two_digits(double number) {
  if (number == 0) return 0;
  const double unit = std::pow(10, std::floor(std::log10(number)) - 1);
  // Through its decimal: the unit is not exact.
  return std::stod(cat(std::round(number / unit), "e", std::lround(std::log10(unit))));
}

std::string levels_of(const Machine& machine) {
  return join(machine.memory, ", ", [](const MemoryLevel& level) { return level.name; });
}

void expect_same(std::string_view what, const std::string& told, const std::string& measured) {
  if (told == measured) return;
  throw Error(cat("it is of another machine: ", what, " is '", escaped(measured), "' there and '",
                  escaped(told), "' here"));
}

}  // namespace

Machine rounded(Machine measured) {
  const auto round = [](std::string_view, auto& fact, const auto&, From from) {
    if constexpr (std::is_same_v<std::decay_t<decltype(fact)>, double>)
      if (from == From::measurement) fact = to_two_digits(fact);
  };
  for_each_fact(measured, measured, round);
  for (MemoryLevel& level : measured.memory) for_each_fact_of_levels(level, level, round);
  return measured;
}

Machine calibrated(Machine told, const Machine& measured) {
  expect_same("name", told.name, measured.name);
  expect_same("model", told.model, measured.model);
  expect_same("its memory", levels_of(told), levels_of(measured));
  std::string place;
  const auto take = [&](std::string_view name, auto& fact, const auto& given, From from) {
    if (from == From::system) expect_same(cat(place, name), cat(fact), cat(given));
    if (from != From::measurement) return;
    if (fact != 0 && given == 0) throw Error(cat("'", place, name, "' is 0 in it"));
    fact = given;
  };
  for_each_fact(told, measured, take);
  for (std::size_t at = 0; at < told.memory.size(); ++at) {
    place = told.memory[at].name + ".";
    for_each_fact_of_levels(told.memory[at], measured.memory[at], take);
  }
  return told;
}

std::string calibration_name(const Machine& told) {
  return cat("calibration-", told.name, "-", told.blocks_at_once, "-", hexadecimal(stable_hash(told.model)));
}

}  // namespace twinloom::machine
