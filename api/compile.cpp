// See compile.h and twinloom.h.
#include "api/compile.h"

namespace twinloom {

namespace {

CompileOptions with_cache(CompileOptions options, const Device& device) {
  if (options.cache == nullptr) options.cache = device.cache();
  return options;
}

}  // namespace

Executable compile(const Graph& graph, const Device& device, const CompileOptions& options) {
  return pipeline::compile(graph, device.share(), with_cache(options, device));
}

Executable::Maker maker_for(const Device& device, const CompileOptions& options) {
  return pipeline::maker(device.share(), with_cache(options, device));
}

}  // namespace twinloom
