# Writes OUTPUT, a source that holds the text of each of HEADERS (separated by "|") as a raw string.
#   cmake -DHEADERS=a.h|b.h -DOUTPUT=device_text.cpp -P embed.cmake
string(REPLACE "|" ";" headers "${HEADERS}")
set(rows "")
foreach(header IN LISTS headers)
  get_filename_component(name "${header}" NAME)
  file(READ "${header}" text)
  string(FIND "${text}" ")embedded\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${header} holds the end of a raw string")
  endif()
  string(APPEND rows "    {\"device/${name}\", R\"embedded(${text})embedded\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made by core/ops/embed.cmake from the headers of core/ops/device.
#include \"core/ops/device_text.h\"

namespace twinloom::ops {

namespace {

constexpr DeviceHeader headers[] = {
${rows}};

}  // namespace

std::span<const DeviceHeader> device_headers() { return headers; }

}  // namespace twinloom::ops
")
