// echo.cpp - GET /echo, a websocket that sends every message back.
#include <portico/sdk.hpp>

class echo final : public portico::plugin {
 public:
  using plugin::plugin;

  void start() override { route("GET", "/echo", &echo::serve); }

 private:
  portico::task<portico::response> serve(portico::request& req) {
    portico::websocket_options options;
    options.max_message(64 * 1024);
    auto ws = portico::websocket::accept(req, options);
    while (const auto message = co_await ws.receive()) {
      if (message->is_text())
        co_await ws.send_text(message->bytes());
      else
        co_await ws.send_binary(message->bytes());
    }
    co_return ws.end();
  }
};

PORTICO_PLUGIN(echo, "org.example.echo", "1.0.0", "Sends every message back.")
