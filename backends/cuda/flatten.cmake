# Writes OUTPUT, a source that holds the device headers as one text without a macro to expand, as NVRTC would see it.
#   cmake -DCOMPILER=c++ -DROOT=. -DINCLUDE=folder with cuda/ in it -DOUTPUT=flat_text.cpp -P flatten.cmake
# The architecture is not known yet: what a kernel asks for it stays a question, and what a directive asks is an error.
file(WRITE ${OUTPUT}.in "#include \"cuda/routines.h\"\n")
execute_process(
  COMMAND ${COMPILER} -x c++ -std=c++20 -E -P -dD -undef -nostdinc -D__CUDACC__ -D__CUDACC_RTC__ -D__CUDACC_VER_MAJOR__=13
          -D__CUDACC_VER_MINOR__=0 "-D__CUDA_ARCH__=int(__CUDA_ARCH__)" -I${INCLUDE} -I${ROOT}/core/ops -I${ROOT} ${OUTPUT}.in
  OUTPUT_VARIABLE text RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "the device headers cannot be preprocessed: ${failed}")
endif()
string(REPLACE "#define __CUDA_ARCH__ int(__CUDA_ARCH__)\n" "" text "${text}")
string(FIND "${text}" ")embedded\"" clash)
if(NOT clash EQUAL -1)
  message(FATAL_ERROR "the device headers hold the end of a raw string")
endif()
file(WRITE ${OUTPUT} "// Made by backends/cuda/flatten.cmake from the device headers.
#include \"backends/cuda/device_text.h\"

namespace twinloom::cuda {

std::string_view flat_headers() {
  return R\"embedded(${text})embedded\";
}

}  // namespace twinloom::cuda
")
