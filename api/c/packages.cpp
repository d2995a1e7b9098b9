// Packages by the C API. See handles.h.
#include "api/c/handles.h"
#include "api/package.h"

using twinloom::c::checked;
using twinloom::c::guarded;

twinloom_error* twinloom_load_package(const char* path, const twinloom_device* device,
                                      const twinloom_package_options* options,
                                      twinloom_executable** executable) {
  return guarded([&] {
    checked(executable, "executable");
    const twinloom::Device& where = checked(device, "device").device;
    const twinloom_package_options known = twinloom::c::known(options, "twinloom_package_options");
    const twinloom::PackageOptions asked{known.no_compile == 0, known.build_threads};
    *executable =
        new twinloom_executable{twinloom::load_package(&checked(path, "path"), where, asked), where, {}};
  });
}

twinloom_error* twinloom_executable_graph(const twinloom_executable* executable, twinloom_graph** graph) {
  return guarded([&] {
    checked(graph, "graph");
    *graph = new twinloom_graph(checked(executable, "executable").executable.graph());
  });
}
