// core/plugin/image.hpp - what differs by system about loading a library: a look at its file, and flags for the loader.
// image_posix.cpp and image_windows.cpp implement it.
#pragma once
#include <string>

namespace portico::plugin {

// Empty, or why the file must not be given to the loader: it ends before its segments do.  The loader maps such a file
// all the same, and the process dies of SIGBUS when it touches the missing part.  What is no library at all, or one for
// another machine, is left to the loader's own words.  Any thread; reads the file.
std::string image_fault(const std::string& path);

// What the system's loader must be told beyond "resolve all now, share no symbols": on Windows, to look for a library's
// own libraries beside it.
unsigned loader_flags() noexcept;

}  // namespace portico::plugin
