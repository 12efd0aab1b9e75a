// core/service/builtin.hpp - what the build puts into the program (builtin.cpp.in).
#pragma once
#include <string_view>

namespace portico::service {

extern const std::string_view version;      // "0.1.0"
extern const std::string_view default_ini;  // the text of etc/portico.ini
extern const std::string_view
    plugins_from_bin;  // the installed folder of plugins as seen from the program's: "../lib/portico/plugins"

}  // namespace portico::service
