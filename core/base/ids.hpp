// core/base/ids.hpp - names that do not repeat.  Any thread.
#pragma once
#include <array>
#include <string>
#include <string_view>

namespace portico::base {

// A request's name for logs and answers: 8 characters that this process drew at random, '-', then a count; lowercase
// hexadecimal.  Not a secret.
class request_id {
 public:
  std::string_view text() const noexcept { return {text_.data(), text_.size()}; }

 private:
  friend request_id next_request_id() noexcept;
  std::array<char, 19> text_;
};

// Different from every other in the life of the process, until 2^40 were drawn.  Costs no lock and no allocation.
request_id next_request_id() noexcept;

// A random (version 4) UUID in its canonical lowercase form of 36 characters.  122 bits from the system's source of
// random bytes: fit to be guessed by nobody.  Throws std::system_error when the system has none to give.
std::string make_uuid();
// Whether text is a UUID of any version in canonical form: 8-4-4-4-12 lowercase hexadecimal digits.
bool is_canonical_uuid(std::string_view) noexcept;

}  // namespace portico::base
