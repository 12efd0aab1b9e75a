// core/base/loopback.hpp - which hosts only this machine can reach.  Pure, never looks a name up.  Any thread.
#pragma once
#include <string_view>

namespace portico::base {

// A literal of 127.0.0.0/8, of ::1, or of the same mapped into IPv6 (::ffff:127.0.0.1); IPv6 with or without brackets.
// False for every name, also "localhost", for the empty string and for anything malformed.
bool is_loopback_literal(std::string_view host) noexcept;

// As above, or "localhost" or a name below it ("a.localhost"), in any case, with or without one trailing dot: the names
// that RFC 6761 keeps for the machine itself.
bool is_loopback_name(std::string_view host) noexcept;

}  // namespace portico::base
