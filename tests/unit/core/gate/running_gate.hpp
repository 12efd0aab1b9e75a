// tests/unit/core/gate/running_gate.hpp - a gate over the real HTTP engine on a loopback port, and a client for it.
#pragma once
#include <cstdint>
#include <future>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/gate/gate.hpp"
#include "core/http/router.hpp"
#include "core/http/server.hpp"
#include "core/loop/loop.hpp"

// Answers whatever passes the gate with 200 and what the gate told it.
class echo final : public portico::http::handler {
 public:
  void on_exchange(portico::http::exchange& x) noexcept override {
    std::string text = std::string(x.matched()->owner) + " " + std::string(x.head().method);
    for (const portico::http::field& f : x.params()) text += " " + std::string(f.name) + "=" + std::string(f.value);
    if (!x.token_id().empty()) text += " token=" + std::string(x.token_id());
    const portico::http::field told[] = {{"x-base-url", x.base_url()}, {"x-client", x.peer()}};
    portico::http::answer(x, 200, "text/plain", text, told);
  }
};

class running_gate {
 public:
  explicit running_gate(portico::gate::settings s) : loop_(0), loops_{&loop_} {
    add("GET", "/api/v2/health", true);
    add("GET", "/api/v2/jobs", false);
    add("POST", "/api/v2/jobs", false, 64);
    add("GET", "/api/v2/jobs/{id}", false);
    routes_.freeze();
    gate_.emplace(std::move(s), loops_, routes_, echo_);
    server_.emplace(loops_, portico::http::limits{}, *gate_);
    port_ = server_->listen("127.0.0.1", 0);
    loop_.post([this] { server_->start(); });
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~running_gate() {
    std::promise<void> closed;
    loop_.post([&] {
      server_->close_all();
      closed.set_value();
    });
    closed.get_future().wait();
    loop_.stop();
    thread_.join();
    server_.reset();
    gate_.reset();
  }
  std::uint16_t port() const { return port_; }

 private:
  void add(const char* method, const char* pattern, bool open, std::int64_t max_body = -1) {
    portico::http::route r;
    r.method = method, r.pattern = pattern, r.owner = "echo", r.open = open, r.max_body = max_body, r.target = &echo_;
    if (const std::string error = routes_.add(std::move(r)); !error.empty()) throw std::runtime_error(error);
  }

  portico::loop::event_loop loop_;
  std::vector<portico::loop::event_loop*> loops_;
  portico::http::router routes_;
  echo echo_;
  std::optional<portico::gate::gate> gate_;
  std::optional<portico::http::server> server_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

struct response {
  int status = 0;
  std::multimap<std::string, std::string> headers;  // names in lower case
  std::string body;

  std::string header(const std::string& name) const {
    const auto at = headers.find(name);
    return at == headers.end() ? std::string() : at->second;
  }
  // The code of the error envelope.
  std::string code() const;
};

// One request on a connection of its own, with `Connection: close`.  head: "GET /path" and header lines, each with
// \r\n.
response ask(std::uint16_t port, const std::string& head, const std::string& body = {});
