// tests/unit/sdk/hello_plugin.hpp - the service that the tests' plugin uses and provides.
#pragma once
#include <portico/sdk.hpp>

struct adder {
  uint32_t struct_size;
  uint32_t reserved;
  int32_t(PORTICO_CALL* add)(void* self, int64_t n, int64_t* out, portico_done, void* user);
};
