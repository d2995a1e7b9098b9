# Programs that measure; none runs among the tests.
add_executable(compile_time ${CMAKE_SOURCE_DIR}/perf/compile_time.cpp ${CMAKE_SOURCE_DIR}/perf/cases.cpp)
target_link_libraries(compile_time PRIVATE api core_measure frontends_fx CLI11::CLI11)
twinloom_allocator(compile_time)

add_executable(speed ${CMAKE_SOURCE_DIR}/perf/speed.cpp ${CMAKE_SOURCE_DIR}/perf/speed_cases.cpp
               ${CMAKE_SOURCE_DIR}/perf/plain_levels.cpp)
find_package(OpenMP REQUIRED COMPONENTS CXX)
target_link_libraries(speed PRIVATE api core_measure CLI11::CLI11 nlohmann_json::nlohmann_json OpenMP::OpenMP_CXX)
# Not for the instruction set of the machine that compiles: the program travels.
foreach(level avx2:v3 avx512:v4)
  string(REPLACE ":" ";" level ${level})
  list(GET level 0 name)
  list(GET level 1 architecture)
  add_library(plain_loops_${name} OBJECT ${CMAKE_SOURCE_DIR}/perf/plain_loops.cpp)
  target_include_directories(plain_loops_${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_definitions(plain_loops_${name} PRIVATE TWINLOOM_LEVEL=${name})
  target_compile_options(plain_loops_${name} PRIVATE -O3 -march=x86-64-${architecture} -ffp-contract=fast)
  target_link_libraries(plain_loops_${name} PRIVATE api core_measure OpenMP::OpenMP_CXX)
  target_link_libraries(speed PRIVATE plain_loops_${name})
endforeach()
add_executable(plan_time ${CMAKE_SOURCE_DIR}/perf/plan_time.cpp ${CMAKE_SOURCE_DIR}/perf/plan_families.cpp)
target_link_libraries(plan_time PRIVATE api core_measure frontends_fx CLI11::CLI11)
twinloom_allocator(plan_time)
add_executable(cached_time ${CMAKE_SOURCE_DIR}/perf/cached_time.cpp ${CMAKE_SOURCE_DIR}/perf/cases.cpp)
target_link_libraries(cached_time PRIVATE api core_measure)
add_executable(host_cost ${CMAKE_SOURCE_DIR}/perf/host_cost.cpp)
target_link_libraries(host_cost PRIVATE api core_measure)
twinloom_allocator(host_cost)
if(TARGET backends_cuda)
  add_executable(gpu_speed ${CMAKE_SOURCE_DIR}/perf/gpu_speed.cpp ${CMAKE_SOURCE_DIR}/perf/gpu_cases.cpp
                 ${CMAKE_SOURCE_DIR}/perf/gpu_indexed_cases.cpp ${CMAKE_SOURCE_DIR}/perf/gpu_inputs.cpp)
  target_link_libraries(gpu_speed PRIVATE api core_measure CLI11::CLI11 nlohmann_json::nlohmann_json)
  twinloom_allocator(gpu_speed)
  add_executable(gpu_index_cost ${CMAKE_SOURCE_DIR}/perf/gpu_index_cost.cpp
                 ${CMAKE_SOURCE_DIR}/perf/gpu_indexed_cases.cpp ${CMAKE_SOURCE_DIR}/perf/gpu_cases.cpp
                 ${CMAKE_SOURCE_DIR}/perf/gpu_inputs.cpp)
  target_link_libraries(gpu_index_cost PRIVATE api core_measure CLI11::CLI11)
  twinloom_allocator(gpu_index_cost)
  add_executable(gpu_compile_time ${CMAKE_SOURCE_DIR}/perf/gpu_compile_time.cpp
                 ${CMAKE_SOURCE_DIR}/perf/gpu_cases.cpp ${CMAKE_SOURCE_DIR}/perf/gpu_indexed_cases.cpp)
  target_link_libraries(gpu_compile_time PRIVATE api core_measure CLI11::CLI11)
  twinloom_allocator(gpu_compile_time)
endif()
