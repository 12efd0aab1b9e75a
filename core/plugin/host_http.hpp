// core/plugin/host_http.hpp - the bridge between the engine's exchanges and portico.http/1; the only one.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include <portico/abi/http.h>

#include "core/http/exchange.hpp"
#include "core/plugin/handles.hpp"
#include "core/plugin/instance.hpp"
#include "core/plugin/tables.hpp"

namespace portico::plugin {

// A route of a plugin, as the router knows it.
class bound_route final : public http::handler {
 public:
  bound_route(instance& owner, std::string what, portico_on_request fn, void* user)
      : where_{&owner, std::move(what)}, owner_(owner), fn_(fn), user_(user) {}
  void on_exchange(http::exchange&) noexcept override;

 private:
  label where_;
  instance& owner_;
  portico_on_request fn_;
  void* user_;
};

// A filter of a plugin.
struct bound_filter {
  label where;
  instance& owner;
  portico_on_request fn;
  void* user;
};

// An exchange while a plugin holds it.
class held_exchange final : public object {
 public:
  static constexpr kind its_kind = kind::exchange;
  explicit held_exchange(loop_state& home) : object(its_kind, home) {}

  // next_step: for a filter, where pass leads; 0 for the handler of a route.
  void adopt(http::exchange&, std::size_t next_step);
  void enter(portico_on_request fn, void* user) noexcept;
  void stop() noexcept override { x_->stop(); }

  std::int32_t read(std::size_t max, portico_str* chunk, portico_done, void* user);
  std::int32_t begin(std::int32_t status, const portico_field*, std::size_t count, std::int64_t content_length);
  std::int32_t write(portico_str bytes, portico_done, void* user);
  std::int32_t send_file(std::int64_t file, std::uint64_t offset, std::uint64_t size, portico_done, void* user);
  std::int32_t finish();
  std::int32_t abort();
  std::int32_t on_close(portico_done, void* user);
  std::int32_t pass();
  std::int32_t cancel();

  http::exchange& engine() const noexcept { return *x_; }
  bool is_filtered() const noexcept { return next_step_ != 0; }
  bool busy() const noexcept { return x_->busy() || piping_; }
  // A call that passes the body of one of the two on: from beginning to end of that, reading and writing are its own.
  bool is_piped() const noexcept { return piping_ != nullptr; }
  void piped_by(held_call* c) noexcept { piping_ = c; }
  // It became a websocket: no longer held, but its head lives until keep_no_longer.
  void became_websocket() noexcept { home_.exchanges->detach(*this); }
  void keep_no_longer() noexcept { home_.exchanges->reuse(*this); }

 private:
  static void read_done(void*, base::status) noexcept;
  static void write_done(void*, base::status) noexcept;
  static void told(void*, base::status) noexcept;
  void fill_head();
  void call(pending&, base::status) noexcept;
  void take_away(std::uint64_t handle) noexcept;
  void give_back() noexcept;

  http::exchange* x_ = nullptr;
  std::size_t next_step_ = 0;
  portico_request head_{};
  std::vector<portico_field> fields_;  // headers, then parameters
  std::string_view chunk_;
  portico_str* read_out_ = nullptr;
  pending reading_, writing_, closing_;
  held_call* piping_ = nullptr;
};

// The timer of loop_state::passes.
void run_passes(void* loop_state) noexcept;

}  // namespace portico::plugin
