// See compile.h and twinloom.h.
#include "api/compile.h"

namespace twinloom {

Executable compile(const Graph& graph, const Device& device, const CompileOptions& options) {
  return pipeline::compile(graph, device.share(), options);
}

Executable::Maker maker_for(const Device& device, const CompileOptions& options) {
  return pipeline::maker(device.share(), options);
}

}  // namespace twinloom
