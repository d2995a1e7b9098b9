// A program's CUDA text, the key of its machine code, and that machine code. Needs NVRTC and no GPU.
#pragma once

#include <string>
#include <vector>

#include "backends/cuda/device_text.h"
#include "backends/cuda/dialect.h"
#include "backends/cuda/nvrtc.h"
#include "core/loops/loops.h"
#include "core/object_cache/key.h"

namespace twinloom::cuda {

struct KernelText : object_cache::KernelText {
  bool keeps_bound = false;  // on blocks, also where it makes registers spill
};

// Thread-safe.
class Translator {
 public:
  // "sm_90a", and flags beside those of every kernel; Error where NVRTC is missing, with the places that
  // were searched.
  explicit Translator(const std::string& architecture, std::vector<std::string> flags = {});
  KernelText text(const loops::Program& program, Handed handed,
                  std::span<const loops::InPlace> in_place = {}) const;
  // Bug where NVRTC refuses the text. Where its bound on blocks makes NVRTC spill, that of the text without
  // it, unless it keeps its bound.
  std::string object(const KernelText& text, const std::string& name) const;
  const std::string& architecture() const { return options_.architecture; }
  const Nvrtc& nvrtc() const { return nvrtc_; }

 private:
  NvrtcOptions options_;
  std::vector<Header> headers_;
  Nvrtc nvrtc_;
  std::string identity_;  // of NVRTC and the headers
};

}  // namespace twinloom::cuda
