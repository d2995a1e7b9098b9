# What exported sources include, whatever runs their kernels.
include(cmake/embed.cmake)
file(GLOB exported CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/core/sources/exported/*.h)
twinloom_embed(core_sources twinloom::sources::exported_headers core/sources/target.h include ${exported})
