// core/service/listing.hpp - what `portico plugins` prints.  Pure.
#pragma once
#include <span>
#include <string>

#include "core/plugin/manager.hpp"

namespace portico::service {

// For people: one block of lines for each plugin.
std::string plugins_text(std::span<const plugin::description>, const std::string& directory);

}  // namespace portico::service
