// See package.h.
#include "api/compile.h"
#include "api/package.h"
#include "core/base/error.h"

namespace twinloom {

CompileOptions compile_options_of(const package::Package& package) {
  CompileOptions options;
  const auto mode = pipeline::mode_named(package.mode());
  if (!mode) throw Error(cat("a package of mode '", escaped(package.mode()), "' is not known"));
  options.mode = *mode;
  options.relaxed = {};
  for (const std::string& each : package.relaxed()) options.relaxed.add(graph::relaxation_named(each));
  return options;
}

Executable load_package(const std::filesystem::path& file, const Device& device,
                        const PackageOptions& options) {
  const package::Package package = package::Package::open(file);
  CompileOptions compile = compile_options_of(package);
  compile.build_threads = options.build_threads;
  return package.executable(device.share(),
                            options.compile ? maker_for(device, compile) : Executable::Maker());
}

}  // namespace twinloom
