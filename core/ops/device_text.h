// The texts of the device header as they were when this library was built: generated code is compiled where
// no file exists. device_text.cpp is made by embed.cmake.
#pragma once

#include <span>
#include <string_view>

namespace twinloom::ops {

struct DeviceHeader {
  std::string_view path;  // "device/kernel.h"; each includes its neighbours by file name
  std::string_view text;
};

// In the order of their paths. "device/kernel.h" includes all others.
std::span<const DeviceHeader> device_headers();

}  // namespace twinloom::ops
