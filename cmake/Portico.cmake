# What all targets of the project share: warnings, sanitizers, and the modules of core.

add_library(portico_options INTERFACE)
target_compile_options(portico_options INTERFACE
  $<$<CXX_COMPILER_ID:GNU,Clang>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror>
  # g++ 12 sees overlapping copies in "text" + std::string once it optimises (GCC bug 105651).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:-Wno-restrict>)
if(PORTICO_SANITIZE)
  # What sanitizers add to the code misleads this warning (GCC bug 105562: std::regex); without them it stays on.
  target_compile_options(portico_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_compile_options(portico_options INTERFACE -fsanitize=${PORTICO_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(portico_options INTERFACE -fsanitize=${PORTICO_SANITIZE})
endif()
if(PORTICO_CHECK_TAGS)
  target_compile_definitions(portico_options INTERFACE PORTICO_CHECK_TAGS=1)
endif()

# Sources of one folder for this system: *_windows.cpp and *_wsapoll.cpp on Windows, *_posix.cpp and *_epoll.cpp elsewhere.
function(portico_sources out folder)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp ${folder}/*.c)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")  # of a program, which names it itself
  if(WIN32)
    list(FILTER sources EXCLUDE REGEX "_(posix|epoll)\\.cpp$")
  else()
    list(FILTER sources EXCLUDE REGEX "_(windows|wsapoll)\\.cpp$")
  endif()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# portico_module(NAME [modules and libraries it may use...]): the folder core/NAME as the library portico_NAME.  A module
# sees the headers of the modules it names and no others: each has an include folder of its own that holds core/NAME only.
function(portico_module name)
  portico_sources(sources ${CMAKE_CURRENT_SOURCE_DIR}/${name})
  set(visible ${CMAKE_BINARY_DIR}/modules/${name})
  file(MAKE_DIRECTORY ${visible}/core)
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${name} ${visible}/core/${name} SYMBOLIC)
  if(sources)
    add_library(portico_${name} STATIC ${sources})
    target_include_directories(portico_${name} PUBLIC ${visible})
    target_link_libraries(portico_${name} PRIVATE portico_options PUBLIC ${ARGN})
  else()
    add_library(portico_${name} INTERFACE)
    target_include_directories(portico_${name} INTERFACE ${visible})
    target_link_libraries(portico_${name} INTERFACE ${ARGN})
  endif()
endfunction()
