// core/gate/access_log.hpp - one line on standard output for each answered request.
//
//   2026-01-31T12:00:00.123Z 1f9a3c07-00000000a2 127.0.0.1 GET /api/v2/jobs 200 512 0.734 jobs
//   time, request id, client, method, path without query, status, bytes of the body, milliseconds, plugin (- : none)
//
// or as JSON, with the route's pattern besides:
//
//   {"time":"2026-01-31T12:00:00.123Z","id":"1f9a3c07-00000000a2","client":"127.0.0.1","method":"GET",
//    "path":"/api/v2/jobs","route":"/api/v2/jobs","plugin":"jobs","status":200,"bytes":512,"ms":0.734}
//
// What the engine refused has no id, method, path and time taken: "-" and 0.000, in JSON null.
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

enum class log_format { none, text, json };

class access_log {
 public:
  // text or json.  The loops outlive the log.
  access_log(log_format, std::span<loop::event_loop* const> loops);
  ~access_log();  // writes what is left; when the loops no longer turn
  access_log(const access_log&) = delete;
  access_log& operator=(const access_log&) = delete;

  // On the exchange's loop.
  void add(const http::exchange&, int status, std::uint64_t body_bytes, std::int64_t microseconds) noexcept;
  // On the loop that refused.
  void add(const http::refused_request&) noexcept;

 private:
  struct entry;
  struct sheet;  // the lines of one loop
  void write(loop::event_loop&, const entry&) noexcept;
  const log_format format_;
  std::vector<std::unique_ptr<sheet>> sheets_;
};

}  // namespace portico::gate
