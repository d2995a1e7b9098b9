// twinloom calibrate: measures the machine once, and keeps what estimates then start from.
#include <iostream>

#include "api/calibrations.h"
#include "core/measure/calibrate.h"
#include "tools/twinloom/commands.h"

namespace twinloom::tool {

namespace {

struct CalibrateCommand {
  DeviceOptions device;
  bool show = false, clear = false;
};

int calibrate(const CalibrateCommand& command) {
  const Device device = make_device(command.device);
  const machine::Machine& known = device.backend().machine();
  const std::string path = escaped(calibration_path(known));
  print_warning(device.backend().warning());
  if (command.show) {
    std::cout << machine::print(known)
              << (is_calibrated(known) ? "kept in " : "not measured; a measurement would be kept in ") << path
              << '\n';
    return 0;
  }
  if (command.clear) {
    std::cout << (forget_calibration(known) ? "removed " : "there is no ") << path << '\n';
    return 0;
  }
  command.device.context.progress->say("measure");
  const machine::Machine measured = measure::calibrate(device.backend());
  keep_calibration(measured);
  std::cout << machine::print(measured) << "kept in " << path << '\n';
  return 0;
}

}  // namespace

Command add_calibrate(CLI::App& app, const Context& context) {
  CLI::App* calibrate_app = app.add_subcommand(
      "calibrate",
      "Measure this machine and keep what estimates start from; some seconds, best with nothing "
      "else running");
  auto command = std::make_shared<CalibrateCommand>();
  command->device.context = context;
  calibrate_app->add_option("--device", command->device.device, "What is measured")
      ->type_name("cpu|cuda|cuda:N")
      ->capture_default_str();
  add_isa_option(*calibrate_app, command->device);
  auto* show =
      calibrate_app->add_flag("--show", command->show, "Measure nothing; print what is known of the machine");
  calibrate_app->add_flag("--clear", command->clear, "Measure nothing; forget what was measured")
      ->excludes(show);
  calibrate_app->footer(
      "It is kept beside the compiled kernels (see `twinloom cache --help`), for this model, instruction set "
      "and number of cores. Without one, estimates start from what is usual. Results never depend on it, "
      "times "
      "may: schedules are chosen by estimates.");
  return [=] { return calibrate_app->parsed() ? calibrate(*command) : -1; };
}

}  // namespace twinloom::tool
