// Graphs that the C API reads. See handles.h.
#include "api/c/dlpack.h"
#include "api/c/handles.h"
#include "api/load.h"

namespace {

using twinloom::c::checked;
using twinloom::c::guarded;

twinloom::LoadOptions load_options(const twinloom_read_options* given) {
  const twinloom_read_options options = twinloom::c::known(given, "twinloom_read_options");
  twinloom::LoadOptions result{.graph = options.graph};
  if (options.constant_count != 0) checked(options.constants, "twinloom_read_options.constants");
  for (std::size_t i = 0; i < options.constant_count; ++i) {
    const twinloom_named_tensor& constant = options.constants[i];
    const std::string name = &checked(constant.name, twinloom::cat("the name of constant ", i));
    result.constants[name] =
        twinloom::c::array_of(constant.tensor, twinloom::cat("constant '", twinloom::escaped(name), "'"));
  }
  return result;
}

}  // namespace

twinloom_error* twinloom_graph_read(const char* text, size_t bytes, const twinloom_read_options* options,
                                    twinloom_graph** graph) {
  return guarded([&] {
    checked(graph, "graph");
    const std::string_view given(&checked(text, "text"), bytes);
    *graph = new twinloom_graph(twinloom::read_graph(given, load_options(options)));
  });
}

twinloom_error* twinloom_graph_load(const char* path, const twinloom_read_options* options,
                                    twinloom_graph** graph) {
  return guarded([&] {
    checked(graph, "graph");
    *graph = new twinloom_graph(twinloom::load_graph(&checked(path, "path"), load_options(options)));
  });
}
