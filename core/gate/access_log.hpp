// core/gate/access_log.hpp - one line on standard output for each answered request.
//
//   2026-01-31T12:00:00.123Z 1f9a3c07-00000000a2 127.0.0.1 GET /api/v2/jobs 200 512 0.734 jobs
//   time, request id, peer, method, path without query, status, bytes of the body, milliseconds, plugin (- : none)
//
// Each loop collects its lines and writes them when 16 KiB are full or a second has passed, so that a request costs no
// system call.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/http/exchange.hpp"
#include "core/loop/loop.hpp"

namespace portico::gate {

class access_log {
 public:
  // The loops outlive the log.
  explicit access_log(std::span<loop::event_loop* const> loops);
  ~access_log();  // writes what is left; when the loops no longer turn
  access_log(const access_log&) = delete;
  access_log& operator=(const access_log&) = delete;

  // On the exchange's loop.
  void add(const http::exchange&, int status, std::uint64_t body_bytes, std::int64_t microseconds) noexcept;

 private:
  struct sheet;  // the lines of one loop
  std::vector<std::unique_ptr<sheet>> sheets_;
};

}  // namespace portico::gate
