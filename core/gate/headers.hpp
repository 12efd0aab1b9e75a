// core/gate/headers.hpp - reading a header that may stand only once.
#pragma once
#include <cstddef>
#include <string_view>

#include "core/http/message.hpp"

namespace portico::gate {

struct single_header {
  std::string_view value;  // of the first
  std::size_t count = 0;   // more than 1: somebody tries to be understood in two ways
};

inline single_header find_single(const http::request_head& head, std::string_view lower_case_name) noexcept {
  single_header out;
  for (const http::field& f : head.headers)
    if (f.name == lower_case_name && out.count++ == 0) out.value = f.value;
  return out;
}

}  // namespace portico::gate
