# CUDA_INCLUDE: the directory of cuda.h and nvrtc.h, false where they are not found. Then one line says that the back
# end for CUDA is left out, and why.
set(cuda_places $ENV{CUDA_PATH} $ENV{CUDA_HOME} /usr/local/cuda)
file(GLOB cuda_versions /usr/local/cuda-*)
list(SORT cuda_versions COMPARE NATURAL ORDER DESCENDING)
list(APPEND cuda_places ${cuda_versions})
foreach(header cuda nvrtc)
  find_path(CUDA_INCLUDE_OF_${header} ${header}.h HINTS ${cuda_places}
            PATH_SUFFIXES include targets/x86_64-linux/include)
  if(NOT CUDA_INCLUDE_OF_${header})
    list(APPEND cuda_missing ${header}.h)
  endif()
endforeach()
if(cuda_missing)
  list(JOIN cuda_missing " and " cuda_missing)
  message(STATUS "The back end for CUDA is left out: no ${cuda_missing} in CUDA_PATH, CUDA_HOME, /usr/local/cuda* "
                 "or the compiler's own places")
  set(CUDA_INCLUDE FALSE)
else()
  set(CUDA_INCLUDE ${CUDA_INCLUDE_OF_cuda} ${CUDA_INCLUDE_OF_nvrtc})
  list(REMOVE_DUPLICATES CUDA_INCLUDE)
endif()
