# libmd, the BSD message digests, as the target portico_libmd.
find_path(LIBMD_INCLUDE_DIR sha2.h REQUIRED DOC "where libmd's headers are (Debian: libmd-dev)")
find_library(LIBMD_LIBRARY md REQUIRED DOC "libmd (Debian: libmd-dev)")
mark_as_advanced(LIBMD_INCLUDE_DIR LIBMD_LIBRARY)
add_library(portico_libmd INTERFACE)
target_include_directories(portico_libmd SYSTEM INTERFACE ${LIBMD_INCLUDE_DIR})
target_link_libraries(portico_libmd INTERFACE ${LIBMD_LIBRARY})
