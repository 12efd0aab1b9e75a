// core/plugin/tables.hpp - the tables that plugins get, one file each, and what their functions begin with.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include <portico/abi/client.h>
#include <portico/abi/filter.h>
#include <portico/abi/http.h>
#include <portico/abi/plugin.h>
#include <portico/abi/service.h>
#include <portico/abi/stats.h>
#include <portico/abi/timer.h>
#include <portico/abi/websocket.h>
#include <portico/abi/work.h>

#include "core/base/status.hpp"
#include "core/plugin/instance.hpp"

namespace portico::plugin {

extern const portico_host
    host_table;  // host_base.cpp; struct_size, loop_count and state are filled in for each instance
extern const portico_http http_table;
extern const portico_filter filter_table;
extern const portico_timer timer_table;
extern const portico_work work_table;
extern const portico_client client_table;
extern const portico_websocket_api websocket_table;
extern const portico_service service_table;
extern const portico_stats stats_table;

static_assert(base::ok == PORTICO_OK && base::ready == PORTICO_READY && base::closed == PORTICO_E_CLOSED &&
              base::cancelled == PORTICO_E_CANCELLED && base::timeout == PORTICO_E_TIMEOUT &&
              base::argument == PORTICO_E_ARGUMENT && base::state == PORTICO_E_STATE &&
              base::limit == PORTICO_E_LIMIT && base::failed == PORTICO_E_FAILED && base::absent == PORTICO_E_ABSENT &&
              base::unreachable == PORTICO_E_UNREACHABLE && base::protocol == PORTICO_E_PROTOCOL);

inline std::string_view view(portico_str s) noexcept { return {s.data, s.size}; }
inline portico_str to_abi(std::string_view s) noexcept { return {s.data(), s.size()}; }
// Whether a plugin's string can be read at all.
inline bool sound(portico_str s) noexcept { return s.data != nullptr || s.size == 0; }

// An operation of a plugin that is under way: whom to call at its end.
struct pending {
  portico_done fn = nullptr;
  void* user = nullptr;
  explicit operator bool() const noexcept { return fn != nullptr; }
};

// Where a [loop] function without an object is called: the state of this loop.  nullptr after a fault was logged: not
// on a loop, or inside create().  Where tags are checked that ends the process.
loop_state* on_loop(const portico_host*, const char* function) noexcept;
// The same for a [start] function.
bool in_start(const portico_host*, const char* function) noexcept;
// A fault of whoever this loop is inside.
void fault_here(const char* function, const std::string& what) noexcept;
// For checking builds: says which function broke which tag, and ends the process.
[[noreturn]] void tag_breach(const std::string& who, const char* function, const char* tag, const char* found) noexcept;

// The object behind a handle, or nullptr after a fault was logged.
object* resolve(std::uint64_t handle, kind, const char* function) noexcept;
template <class T, class H>
T* resolve(const H* handle, const char* function) noexcept {
  return static_cast<T*>(resolve(reinterpret_cast<std::uintptr_t>(handle), T::its_kind, function));
}
template <class H>
H* to_handle(const object& o) noexcept {
  return reinterpret_cast<H*>(o.handle());  // NOLINT(performance-no-int-to-ptr): a number to the plugin, too
}
static_assert(sizeof(void*) == sizeof(std::uint64_t), "handles are 64 bits wide");

// A plugin's fields as core's, in the loop's scratch space until the next use; false: one cannot be read.
bool take_fields(loop_state&, const portico_field*, std::size_t count) noexcept;
// Core's fields as a plugin's.
void give_fields(std::vector<portico_field>& out, std::span<const http::field>);

// Calls a plugin's done at the end of an operation; a throw is logged as its fault.
void call_done(loop_state&, const label&, const pending&, base::status) noexcept;

// The struct a plugin gave, as this server knows it: what a younger header has more is ignored, and what an older one
// lacks is zero.  False when it has not even what version 1.0 has, of which `last` is the end.
template <class S>
bool take_struct(const S* given, std::size_t oldest_size, S* out) noexcept {
  if (!given || given->struct_size < oldest_size) return false;
  *out = S{};
  const std::size_t n = given->struct_size < sizeof(S) ? given->struct_size : sizeof(S);
  const auto* from = reinterpret_cast<const unsigned char*>(given);
  auto* to = reinterpret_cast<unsigned char*>(out);
  for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
  return true;
}

}  // namespace portico::plugin
