# The device headers are embedded: see device_text.h.
file(GLOB device_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/core/ops/device/*.h)
string(REPLACE ";" "|" device_header_list "${device_headers}")
set(device_text ${CMAKE_BINARY_DIR}/generated/core/ops/device_text.cpp)
add_custom_command(
  OUTPUT ${device_text}
  COMMAND ${CMAKE_COMMAND} "-DHEADERS=${device_header_list}" -DOUTPUT=${device_text}
          -P ${CMAKE_SOURCE_DIR}/core/ops/embed.cmake
  DEPENDS ${device_headers} ${CMAKE_SOURCE_DIR}/core/ops/embed.cmake
  VERBATIM)
target_sources(core_ops PRIVATE ${device_text})
