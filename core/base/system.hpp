// core/base/system.hpp - the few things of the operating system that base offers to all.  Any thread.
// system_posix.cpp and system_windows.cpp implement it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace portico::base {

// Fills with bytes fit for keys.  Throws std::system_error when the system has none to give.
void random_bytes(std::span<unsigned char>);

// All of it to standard error in one call where the system allows.  What cannot be written is lost.
void write_stderr(std::string_view) noexcept;

// Raises the number of descriptors this process may have open to what it is allowed without asking anyone: the soft
// limit becomes the hard one.  Returns what holds afterwards; 0 when the system names no limit.
std::uint64_t raise_descriptor_limit() noexcept;

// The name debuggers and `top -H` show for the calling thread.  Cut after 15 bytes.
void name_this_thread(std::string_view) noexcept;

}  // namespace portico::base
