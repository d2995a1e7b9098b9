// See bench_measure.h.
#include "tools/twinloom/bench_measure.h"

#include "tools/twinloom/commands.h"
#include "tools/twinloom/inputs.h"

namespace twinloom::tool {

Benched measure_model(const ModelOptions& options, const BenchSetting& setting) {
  setting.device.release_memory();
  const Model model = read_model(options);
  const auto arguments = on_device(make_arguments(model, options), setting.device);
  const Executable executable = make_executable(model, setting.device, setting.compiled);
  return bench(executable, arguments, setting.device,
               {.run = setting.run, .seconds = setting.seconds, .progress = [&](const std::string& words) {
                  setting.progress->say(words);
                }});
}

measure::CopyBandwidth measure_copy(const BenchSetting& setting) {
  setting.device.release_memory();
  setting.progress->say("copy bandwidth");
  const runtime::Space* const space = setting.device.backend().space();
  return space == nullptr ? measure::copy_bandwidth(setting.run.settings.threads)
                          : measure::copy_bandwidth(*space);
}

}  // namespace twinloom::tool
