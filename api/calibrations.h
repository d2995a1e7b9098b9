// Calibrations on disk, in the folder of the cache of kernels: one a machine, as text.
#pragma once

#include <string>

#include "core/machine/calibration.h"

namespace twinloom {

// The machine with its calibration, where there is one that can be used.
machine::Known kept_calibration(const machine::Machine& told);

// Whether there is one that can be used.
bool is_calibrated(const machine::Machine& told);

// Keeps what was measured of a machine in place of what was kept. Error where it cannot be written.
void keep_calibration(const machine::Machine& measured);

// Whether there was one.
bool forget_calibration(const machine::Machine& told);

// Its file; Error where no folder is named.
std::string calibration_path(const machine::Machine& told);

}  // namespace twinloom
