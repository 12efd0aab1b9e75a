# portico_add_plugin(NAME SOURCES...): a plugin library NAME that exports portico_query and nothing else.
#
# Hidden visibility, no "lib" prefix, and a version script (a .def file on Windows), so that neither the plugin's own
# symbols nor those of the libraries it links can meet those of the server or of another plugin.  The names of all plugins
# made so are in the global property PORTICO_PLUGINS.
set(PORTICO_PLUGIN_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR} CACHE INTERNAL "")

function(portico_add_plugin name)
  add_library(${name} MODULE ${ARGN})
  set_target_properties(${name} PROPERTIES
    PREFIX "" C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  if(WIN32)
    target_sources(${name} PRIVATE ${PORTICO_PLUGIN_CMAKE_DIR}/plugin.def)
  elseif(NOT APPLE)
    target_link_options(${name} PRIVATE -Wl,--version-script=${PORTICO_PLUGIN_CMAKE_DIR}/plugin.map)
    set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${PORTICO_PLUGIN_CMAKE_DIR}/plugin.map)
  endif()
  target_link_libraries(${name} PRIVATE portico::sdk)
  set_property(GLOBAL APPEND PROPERTY PORTICO_PLUGINS ${name})
endfunction()
