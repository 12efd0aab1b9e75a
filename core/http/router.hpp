// core/http/router.hpp - which route a request belongs to.  Built once, then read by every loop without a lock.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/exchange.hpp"

namespace portico::http {

struct route {
  std::string method;   // "GET" also serves HEAD unless a HEAD route exists
  std::string pattern;  // "/jobs/{id}"; "{name...}" at the end takes the rest, slashes included, at least one byte
  std::string owner;    // who registered it, for messages and the log: a plugin id
  std::int64_t max_body = -1;
  bool open = false;  // served without a bearer token
  handler* target = nullptr;
  std::vector<std::string> param_names;  // filled by the router, in the order of the pattern
};

class router {
 public:
  router();
  ~router();
  router(const router&) = delete;
  router& operator=(const router&) = delete;

  // Before freeze.  Empty, or why not: a bad pattern, or a clash, naming both owners: `GET /jobs/{id}` of "b" is
  // already a route of "a".  Patterns that match the same paths clash whatever their parameters are called.
  // A literal segment is plain text, at most 200 bytes; at most 32 segments and 8 parameters.
  std::string add(route);
  // Takes back all routes of an owner that failed to start.  Before freeze.
  void remove_owner(std::string_view owner);
  void freeze();
  std::vector<const route*> routes() const;  // in order of method and pattern, for `portico plugins`

  struct result {
    const route* found = nullptr;
    std::string_view raw_params[8];  // percent-encoded views into path
    std::size_t param_count = 0;
    // With found == nullptr: bits of the methods that routes of this path have; 0: no such path.
    unsigned allowed = 0;
  };
  // Literal segments win over parameters, parameters over the rest; a route that lacks the method is passed over.  The
  // path is percent-decoded segment by segment for the comparison, once, so that an encoded slash never joins two
  // segments.  Nothing else is made the same: "//a", "/./a", "/a/" are paths of their own.  A '%' without two
  // hexadecimal digits is in no path.  Cost does not grow with the number of routes.
  result find(std::string_view method, std::string_view path) const noexcept;
  // "GET, HEAD, POST, OPTIONS" for the allowed bits.
  std::string allow(unsigned bits) const;

 private:
  struct table;
  std::unique_ptr<table> table_;
};

}  // namespace portico::http
