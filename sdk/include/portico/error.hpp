// portico/error.hpp - a host call that failed, as an exception inside the plugin; codes and texts at its border.
#pragma once
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "abi.h"

namespace portico {
inline namespace v1 {

inline portico_str to_abi(std::string_view s) noexcept { return {s.data(), s.size()}; }
inline std::string_view view(portico_str s) noexcept { return {s.data, s.size}; }

inline const char* describe(int32_t code) noexcept {
  switch (code) {
    case PORTICO_E_CLOSED:
      return "the other end has gone";
    case PORTICO_E_CANCELLED:
      return "cancelled";
    case PORTICO_E_TIMEOUT:
      return "a deadline passed";
    case PORTICO_E_ARGUMENT:
      return "bad argument";
    case PORTICO_E_STATE:
      return "wrong moment";
    case PORTICO_E_LIMIT:
      return "a limit was reached";
    case PORTICO_E_ABSENT:
      return "absent";
    case PORTICO_E_UNREACHABLE:
      return "unreachable";
    case PORTICO_E_PROTOCOL:
      return "the other end broke the protocol";
    default:
      return "failed";
  }
}

// code() is one of PORTICO_E_*.  Never leaves the library.
class error : public std::exception {
 public:
  explicit error(int32_t code) : error(code, describe(code)) {}
  error(int32_t code, std::string text) : code_(code), text_(std::move(text)) {}
  int32_t code() const noexcept { return code_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  int32_t code_;
  std::string text_;
};

inline int32_t check(int32_t code) {
  if (code < 0) throw error(code);
  return code;
}

namespace detail {

// Runs f.  Whatever it throws becomes a code, and a text for told(code, text).
template <class F, class Told>
int32_t guard(F&& f, Told&& told) noexcept {
  try {
    f();
    return PORTICO_OK;
  } catch (const error& e) {
    told(e.code(), e.what());
    return e.code();
  } catch (const std::exception& e) {
    told(PORTICO_E_FAILED, e.what());
  } catch (...) {
    told(PORTICO_E_FAILED, "threw something that is not a std::exception");
  }
  return PORTICO_E_FAILED;
}

}  // namespace detail
}  // namespace v1
}  // namespace portico
