# twinloom_embed(TARGET FUNCTION HEADER PREFIX file...): adds to TARGET a source that includes HEADER and
# defines FUNCTION() (a qualified name), which returns a std::vector of {path, text} aggregates, one for
# each file; the path is PREFIX/name. The build configures itself again when a file changes.
function(twinloom_embed target function header prefix)
  set(rows "")
  foreach(file IN LISTS ARGN)
    file(READ ${file} text)
    get_filename_component(name ${file} NAME)
    string(APPEND rows "      {\"${prefix}/${name}\", R\"~~~(${text})~~~\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endforeach()
  string(REPLACE "::" "_" source "${CMAKE_BINARY_DIR}/embedded/${function}.cpp")
  string(REGEX REPLACE "::[^:]*$" "" scope ${function})
  string(REGEX REPLACE ".*::" "" plain ${function})
  set(content "#include \"${header}\"\n\nnamespace ${scope} {\n\nauto ${plain}() -> decltype(${plain}()) {\n  return {\n${rows}  };\n}\n\n}  // namespace ${scope}\n")
  file(CONFIGURE OUTPUT ${source} CONTENT "@content@" @ONLY)
  target_sources(${target} PRIVATE ${source})
endfunction()
