// See calibrations.h.
#include "api/calibrations.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/object_cache/texts.h"

namespace twinloom {

namespace {

std::string file_of(const machine::Machine& told) { return machine::calibration_name(told) + ".txt"; }

object_cache::Place named_place() {
  object_cache::FoundPlace found = object_cache::place_from_environment();
  if (!found.trouble.empty()) throw Error(cat("calibrations have no folder: ", found.trouble));
  return std::move(found.place);
}

}  // namespace

machine::Known kept_calibration(const machine::Machine& told) {
  const object_cache::Place place = object_cache::place_from_environment().place;
  const auto unusable = [&](const std::string& words) {
    return machine::Known{told, cat("the calibration ", escaped(place.path()), "/", file_of(told),
                                    " is not used: ", words, "; `twinloom calibrate` measures again")};
  };
  const object_cache::FoundText found = object_cache::read_text(place, file_of(told));
  if (!found.trouble.empty()) return unusable(found.trouble);
  if (!found.text) return {told, {}};
  try {
    return {machine::calibrated(told, machine::parse(*found.text)), {}};
  } catch (const Error& error) {
    return unusable(error.what());
  }
}

bool is_calibrated(const machine::Machine& told) {
  const object_cache::Place place = object_cache::place_from_environment().place;
  return object_cache::read_text(place, file_of(told)).text && kept_calibration(told).trouble.empty();
}

void keep_calibration(const machine::Machine& measured) {
  const std::string trouble =
      object_cache::write_text(named_place(), file_of(measured), machine::print(measured));
  if (!trouble.empty()) throw Error(cat("the calibration is not kept: ", trouble));
}

bool forget_calibration(const machine::Machine& told) {
  return object_cache::remove_text(named_place(), file_of(told));
}

std::string calibration_path(const machine::Machine& told) {
  return cat(named_place().path(), "/", file_of(told));
}

}  // namespace twinloom
