// core/base/status.hpp - how operations of the core end.  The numbers are those of the plugin interface, so that a
// completion crosses without translation; core/plugin asserts that they agree.
#pragma once
#include <cstdint>

namespace portico::base {

using status = std::int32_t;

inline constexpr status ok = 0;
inline constexpr status ready = 1;         // completed already; no callback will come
inline constexpr status closed = -1;       // the other end has gone
inline constexpr status cancelled = -2;    // cancelled by the caller, or the caller is being stopped
inline constexpr status timeout = -3;      // a deadline passed
inline constexpr status argument = -4;     // the caller's mistake
inline constexpr status state = -5;        // right call, wrong moment
inline constexpr status limit = -6;        // a configured limit was reached
inline constexpr status failed = -7;       // anything else
inline constexpr status absent = -8;       // no such thing
inline constexpr status unreachable = -9;  // no connection could be made
inline constexpr status protocol = -10;    // the other end broke the protocol

// Called once, later, on the owning loop, never before the call that was given it has returned.  Must not throw.
using completion = void (*)(void* user, status);

}  // namespace portico::base
