// portico/host.hpp - the server as a plugin sees it: the base table, and the capabilities found once at create().
#pragma once
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <string>
#include <string_view>

#include "abi/client.h"
#include "abi/filter.h"
#include "abi/http.h"
#include "abi/service.h"
#include "abi/stats.h"
#include "abi/timer.h"
#include "abi/websocket.h"
#include "abi/work.h"
#include "error.hpp"

namespace portico {
inline namespace v1 {

enum class level : int32_t {
  debug = PORTICO_LOG_DEBUG,
  info = PORTICO_LOG_INFO,
  warning = PORTICO_LOG_WARNING,
  error = PORTICO_LOG_ERROR
};

// A cheap value; every copy means the same server.  All members may be called on any thread.
class host {
 public:
  explicit host(const portico_host* raw)
      : raw_(raw),
        http_(find<portico_http>(PORTICO_HTTP)),
        timer_(find<portico_timer>(PORTICO_TIMER)),
        work_(find<portico_work>(PORTICO_WORK)),
        client_(find<portico_client>(PORTICO_CLIENT)),
        websocket_(find<portico_websocket_api>(PORTICO_WEBSOCKET)),
        service_(find<portico_service>(PORTICO_SERVICE)),
        filter_(find<portico_filter>(PORTICO_FILTER)),
        stats_(find<portico_stats>(PORTICO_STATS)) {}

  const portico_host* raw() const noexcept { return raw_; }
  const portico_http& http() const { return present(http_); }
  const portico_timer& timer() const { return present(timer_); }
  const portico_work& work() const { return present(work_); }
  const portico_client& client() const { return present(client_); }
  const portico_websocket_api& websocket() const { return present(websocket_); }
  const portico_service& service() const { return present(service_); }
  const portico_filter& filter() const { return present(filter_); }
  const portico_stats& stats() const { return present(stats_); }

  void log(level l, std::string_view text) const noexcept { raw_->log(raw_, static_cast<int32_t>(l), to_abi(text)); }

  // The validated value of one declared setting.  Views live as long as the host.
  std::string_view text(const char* name) const { return view(value(name).text); }
  int64_t integer(const char* name) const { return value(name).number; }
  bool flag(const char* name) const { return value(name).number != 0; }
  uint64_t bytes(const char* name) const { return static_cast<uint64_t>(value(name).number); }
  std::chrono::milliseconds duration(const char* name) const { return std::chrono::milliseconds(value(name).number); }

  uint32_t loop_count() const noexcept { return raw_->loop_count; }
  // The loop this thread turns, or -1.
  int32_t loop_index() const noexcept { return raw_->loop_index(raw_); }

 private:
  template <class I>
  const I* find(const char* id) const {
    return static_cast<const I*>(raw_->find(raw_, id));
  }
  template <class I>
  const I& present(const I* table) const {
    if (!table) throw error(PORTICO_E_ABSENT, "this server lacks a capability the plugin needs");
    return *table;
  }
  portico_value value(const char* name) const {
    portico_value v{};
    if (raw_->setting(raw_, name, &v) < 0) throw error(PORTICO_E_ABSENT, std::string("undeclared setting ") + name);
    return v;
  }
  const portico_host* raw_;
  const portico_http* http_;
  const portico_timer* timer_;
  const portico_work* work_;
  const portico_client* client_;
  const portico_websocket_api* websocket_;
  const portico_service* service_;
  const portico_filter* filter_;
  const portico_stats* stats_;
};

// Awaiting it continues the coroutine on another loop: `co_await move_to(server(), 0);`.  A request, call or websocket
// must not be touched until the coroutine is back on the loop that owns it.
class [[nodiscard]] move_to {
 public:
  move_to(const host& h, uint32_t loop) noexcept : raw_(h.raw()), loop_(loop) {}
  bool await_ready() const noexcept { return raw_->loop_index(raw_) == static_cast<int32_t>(loop_); }
  bool await_suspend(std::coroutine_handle<> h) {
    check(raw_->post(raw_, loop_, &run, h.address()));  // from here on *this may be gone
    return true;
  }
  void await_resume() const noexcept {}

 private:
  static void PORTICO_CALL run(void* frame) noexcept { std::coroutine_handle<>::from_address(frame).resume(); }
  const portico_host* raw_;
  uint32_t loop_;
};

}  // namespace v1
}  // namespace portico
