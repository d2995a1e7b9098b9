// What was measured of a machine: a Machine again, kept as its printed text under a name of its own.
//   measured -> rounded() -> print() -> a file -> parse() -> calibrated(told, measured)
#pragma once

#include <functional>

#include "core/machine/machine.h"

namespace twinloom::machine {

// What was measured, to two significant digits: more would differ from one measurement to the next.
Machine rounded(Machine measured);

// The machine as the system tells it, with what was measured. Error where the two are not one machine, or
// something was measured to be nothing.
Machine calibrated(Machine told, const Machine& measured);

// Which calibration a machine has: "calibration-cpu-avx512-16-0123456789abcdef", of its name, its workers and
// a hash of its model.
std::string calibration_name(const Machine& told);

// Finds the calibration of a machine that a back end was told of. Where there is none, or none that can be
// used, the machine stays as it is; `trouble` then says why it cannot, else it is empty.
struct Known {
  Machine machine;
  std::string trouble;
};
using Calibrations = std::function<Known(const Machine& told)>;

inline Known known(const Machine& told, const Calibrations& calibrations) {
  return calibrations ? calibrations(told) : Known{told, {}};
}

}  // namespace twinloom::machine
