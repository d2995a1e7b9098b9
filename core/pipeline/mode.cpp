// Names of modes. See pipeline.h.
#include "core/pipeline/pipeline.h"

namespace twinloom::pipeline {

std::string_view name(Mode mode) {
  switch (mode) {
    case Mode::strict:
      return "strict";
    case Mode::fused:
      return "fused";
    case Mode::fast:
      return "fast";
  }
  return {};
}

std::optional<Mode> mode_named(std::string_view given) {
  for (const Mode mode : {Mode::strict, Mode::fused, Mode::fast}) {
    if (name(mode) == given) return mode;
  }
  return std::nullopt;
}

}  // namespace twinloom::pipeline
