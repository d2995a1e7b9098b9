include(tests/support/room.cmake)
twinloom_test(backends backends_cpu backends_reference core_schedule tests_support
              SWEEPS Pointwise.Every*:Pointwise.SquaresAre*:Pointwise.StoresRun*:Totals.ATuple*:Totals.RowsBy*)
target_sources(test_backends PRIVATE ${CMAKE_SOURCE_DIR}/tests/object_cache/place.cpp)
