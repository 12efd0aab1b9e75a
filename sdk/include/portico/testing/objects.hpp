// portico/testing/objects.hpp - what a plugin holds in the fake server.  For the other headers of this folder.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../abi/client.h"
#include "../abi/filter.h"
#include "../abi/http.h"
#include "../abi/plugin.h"
#include "../abi/service.h"
#include "../abi/stats.h"
#include "../abi/timer.h"
#include "../abi/websocket.h"
#include "../abi/work.h"
#include "loops.hpp"
#include "script.hpp"

namespace portico::testing {

inline constexpr std::size_t high_water = 16 * 1024;  // bytes queued before a write waits

namespace detail {

inline std::string str(portico_str s) { return std::string(s.data ? s.data : "", s.size); }
inline portico_str abi(std::string_view s) { return {s.data(), s.size()}; }

struct object;

// One loaded plugin.
struct instance {
  portico_host host{};
  server* srv = nullptr;
  loops* turned = nullptr;  // the server's
  const portico_plugin* plugin = nullptr;
  void* self = nullptr;
  std::map<std::string, std::string> settings;
  std::map<std::string, std::pair<std::string, int64_t>> values;
  bool creating = false, starting = false, started = false, stopping = false;
  int64_t holds = 0;  // hold and release, posts
  std::set<object*> live;
};
inline instance& of(const portico_host* h) { return *static_cast<instance*>(h->state); }

// One operation that may be pending on an object.
struct slot {
  portico_done fn = nullptr;
  void* user = nullptr;
  bool waiting = false;  // its end is not yet decided
  bool busy = false;     // done was not yet called
};

// What a plugin holds: an exchange, a call, a websocket, a timer or a work item.
struct object {
  object(instance& i, uint32_t l);
  object(const object&) = delete;
  object& operator=(const object&) = delete;
  virtual ~object();
  virtual void stop() = 0;  // the plugin is stopping: everything pending completes CANCELLED
  virtual std::string what() const = 0;
  // False, with a fault recorded, when called on another loop.
  bool here(const char* function) const;
  // Runs f later on this object's loop, if the object still exists then.
  template <class F>
  void later(std::chrono::milliseconds d, F f) {
    auto run = [f, a = alive] {
      if (*a) f();
    };
    if (d.count() > 0)
      owner->turned->after(home, d, run);
    else
      owner->turned->post(home, run);
  }
  int32_t begin(slot& s, portico_done fn, void* user) {
    s = slot{fn, user, true, true};
    return PORTICO_OK;
  }
  void complete(slot& s, int32_t status) {
    if (!s.waiting) return;
    s.waiting = false;
    later(std::chrono::milliseconds(0), [this, &s, status] {
      s.busy = false;
      s.fn(s.user, status);  // may give the object back
    });
  }

  // From now on another plugin holds it.
  void hand_to(instance& i) {
    owner->live.erase(this);
    owner = &i;
    owner->live.insert(this);
  }

  instance* owner;
  const uint32_t home;
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);
};

struct bound_route {
  instance* owner;
  std::string method, pattern;
  int64_t max_body;
  uint32_t flags;
  portico_on_request fn;
  void* user;
};
struct bound_filter {
  instance* owner;
  portico_on_request fn;
  void* user;
};
struct provided {
  const void* table;
  void* self;
  instance* provider;  // nullptr: the test
};

struct op final : object {  // a timer or a work item
  using object::object;
  slot pending;
  portico_op id = 0;
  bool can_cancel = true;
  bool withdrawn = false;
  bool is_work = false;
  void finish(int32_t status) {
    if (!pending.waiting) return;
    pending.waiting = false;
    later(std::chrono::milliseconds(0), [this, status] {
      const slot s = pending;
      delete this;
      s.fn(s.user, status);
    });
  }
  void cancel() {
    if (!can_cancel) return;
    withdrawn = true;
    finish(PORTICO_E_CANCELLED);
  }
  void stop() override { cancel(); }
  std::string what() const override { return is_work ? "a work item" : "a timer"; }
};

}  // namespace detail
}  // namespace portico::testing

struct portico_metric {
  std::string plugin, name, help;
  int32_t kind;
  std::vector<int64_t> bounds, cells;  // a histogram: one cell for each bound, one above, one for the sum
};

struct portico_exchange final : portico::testing::detail::object {
  using object::object;
  ~portico_exchange() override {
    if (far && far->exchange == this) far->exchange = nullptr;
  }
  std::string id, method, path, query, authority = "fake.test", scheme = "http", base = "http://fake.test", token,
                                       peer = "192.0.2.7", what_for;
  portico::testing::fields head_fields, param_fields;
  std::vector<portico_field> abi_headers, abi_params;
  portico_request head{};
  std::shared_ptr<portico::testing::client> far;
  std::deque<std::string> in;
  std::string chunk;
  bool in_end = false, expects_continue = false;
  int64_t max_body = -1, taken = 0;
  portico::testing::detail::slot reading, writing;
  portico_str* read_out = nullptr;
  std::size_t read_max = 0, queued = 0;
  portico_call* pipe = nullptr;  // a pipe that reads or writes here
  bool begun = false, slow = false, dirty = false, gone = false, late = false, given = false;
  int64_t promised = -1, written = 0;
  std::string turn;
  portico_done close_fn = nullptr;
  void* close_user = nullptr;
  int32_t close_reason = 0;
  uint32_t deadline_no = 0;
  std::size_t step = 0;  // of the filters; past the last one: a route's handler
  bool filtered = false;

  bool take(std::size_t max, portico_str* out, int32_t& rc);
  void arrived();
  void put(portico_str bytes);
  void flush();
  void tell(int32_t reason);
  void lost();
  void stop() override;
  std::string what() const override { return "an exchange (" + what_for + ")"; }
  bool busy() const { return reading.busy || writing.busy || pipe; }
};

struct portico_call final : portico::testing::detail::object {
  using object::object;
  portico::testing::seen_call seen;
  portico::testing::upstream_script script;  // empty: nobody is there
  portico::testing::reply answer_;
  bool decided = false;  // answer_ is there
  std::vector<portico_field> abi_headers;
  portico_head head{};
  int64_t promised = 0, received = 0;
  std::size_t queued = 0, next = 0;
  bool body_done = false, head_taken = false, draining = false, fetched = false, fetching = false, ended = false;
  int32_t failure = 0;  // what every further wait gets
  std::string chunk;
  portico::testing::detail::slot writing, heading, reading, piping;
  const portico_head** head_out = nullptr;
  portico_str* read_out = nullptr;
  portico_exchange* pipe_x = nullptr;
  portico_pipe* pipe_out = nullptr;
  bool pipe_up = false;

  void decide();
  int32_t put(portico_str bytes);
  void drain();
  void body_complete();
  void answer();
  bool fetch(int32_t& rc);  // true: chunk (empty at the end) or the error in rc is there now
  void pump();
  void pipe_end(int32_t source, int32_t sink);
  void fail_all(int32_t status);
  void stop() override { fail_all(PORTICO_E_CANCELLED); }
  std::string what() const override { return "a call (" + seen.method + " " + seen.url + ")"; }
  bool busy() const { return writing.busy || heading.busy || reading.busy || piping.busy; }
};

struct portico_websocket final : portico::testing::detail::object {
  using object::object;
  std::shared_ptr<portico::testing::client> far;              // of an accepted one
  std::unique_ptr<portico_exchange> before;                   // keeps the request head
  std::shared_ptr<portico::testing::upstream_socket> remote;  // of one opened by connect
  bool open = false, closed = false, closing = false;
  int32_t failure = 0, code = 1006;
  std::size_t max = 1 << 20, queued = 0;
  std::deque<std::pair<std::string, int32_t>> in;
  std::string current;
  portico::testing::detail::slot opening, receiving, sending;
  portico_message* out = nullptr;

  ~portico_websocket() override;
  void arrived();
  void deliver(const std::string& message);  // to the far end
  void ends(int32_t with_code);
  void fail_all(int32_t status);
  void stop() override { fail_all(PORTICO_E_CANCELLED); }
  std::string what() const override { return "a websocket"; }
  bool busy() const { return opening.busy || receiving.busy || sending.busy; }
};
