# Many FX texts in one process, for compare_*.py.
add_executable(run_texts ${CMAKE_CURRENT_LIST_DIR}/run_texts.cpp)
target_include_directories(run_texts PRIVATE ${CMAKE_SOURCE_DIR})
target_link_libraries(run_texts PRIVATE api core_evaluate frontends_fx)
twinloom_allocator(run_texts)

# A few cases of each operator, and programs that write in place, where PyTorch is installed.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME aten.BesidePyTorch
           COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/compare_with_torch.py --program $<TARGET_FILE:run_texts>
                   --twinloom $<TARGET_FILE:twinloom> --cases 10)
  add_test(NAME aten.InPlaceBesidePyTorch
           COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/compare_in_place.py --program $<TARGET_FILE:run_texts>)
  add_test(NAME aten.AttentionBesideAFormula
           COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/compare_attention.py --program $<TARGET_FILE:run_texts>)
  set_tests_properties(aten.BesidePyTorch aten.InPlaceBesidePyTorch aten.AttentionBesideAFormula PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1200 LABELS aten)
endif()
