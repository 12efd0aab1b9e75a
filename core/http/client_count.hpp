// core/http/client_count.hpp - how many connections each client has.  Any thread.
#pragma once
#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/address.hpp"
#include "core/http/socket.hpp"

namespace portico::http {

// Asked once for each connection, so one lock serves all loops.  Holds as many entries as there are clients connected.
class client_count {
 public:
  // most: 0 counts nobody.
  client_count(std::size_t most, std::vector<base::network> uncounted)
      : most_(most), uncounted_(std::move(uncounted)) {}

  bool enter(const net::endpoint&);  // false: that client has its share already; then there is no leave
  void leave(const net::endpoint&) noexcept;

 private:
  bool counts(const base::address&) const noexcept;
  const std::size_t most_;
  const std::vector<base::network> uncounted_;
  std::mutex lock_;
  std::unordered_map<base::address, std::size_t, base::address_hash> open_;
};

}  // namespace portico::http
