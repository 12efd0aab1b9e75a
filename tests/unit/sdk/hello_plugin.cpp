// The plugin that most of these tests load: one handler for each thing the fake server can be asked.
#include "hello_plugin.hpp"

using namespace std::chrono_literals;
using portico::request;
using portico::response;
using portico::task;

class tried final : public portico::plugin {
 public:
  static constexpr const char* uses[] = {"test.adder/1", nullptr};
  static constexpr const char* provides[] = {"test.echo/1", nullptr};
  explicit tried(portico::host h) : plugin(h), pause_(h.duration("pause")), upstream_(h.text("upstream")) {}

  void start() override {
    if (server().text("mode") == "refuse") throw std::runtime_error("told to refuse");
    adder_ = portico::service<adder>(server(), "test.adder/1");
    calls_ = portico::metric::counter(server(), "calls_total", "Calls.");
    portico::publish(server(), "test.echo/1", echo_table, this);
    route("GET", "/hello/{name}", &tried::hello);
    route("GET", "/hello/you", &tried::you);
    route("GET", "/rest/{all...}", &tried::rest);
    route("POST", "/echo", &tried::echo, 100);
    route("GET", "/fetch/{what}", &tried::fetch);
    route("POST", "/forward", &tried::forward);
    route("GET", "/events", &tried::events);
    route("GET", "/socket", &tried::socket);
    route("GET", "/dial", &tried::dial);
    route("GET", "/work", &tried::work);
    route("GET", "/deadline", &tried::deadline);
    route("GET", "/add", &tried::add);
    route("GET", "/throw", &tried::throws);
    route("GET", "/short", &tried::short_of);
    if (server().flag("guard")) filter(&tried::guard);
    spawn(beat());
  }
  void stop() noexcept override { server().log(portico::level::info, "stops"); }

 private:
  task<> beat() {
    for (;;) {
      co_await portico::sleep(server(), 1h);
      calls_.record();
    }
  }
  task<response> hello(request& req) {
    co_await portico::sleep(req, pause_);
    calls_.record();
    co_return response::text(200, "Hello, " + std::string(req.param("name")));
  }
  task<response> you(request&) { co_return response::text(200, "you"); }
  task<response> rest(request& req) { co_return response::text(200, std::string(req.param("all"))); }
  task<response> echo(request& req) {
    const std::string all = co_await req.body(50);
    co_return response::text(200, all);
  }
  task<response> fetch(request& req) {
    portico::call_options o("GET", std::string(upstream_) + "/" + std::string(req.param("what")));
    o.total_timeout(30s);
    portico::call up(req, o);
    const portico_head& head = co_await up.head();
    std::string all;
    for (;;) {
      const auto piece = co_await up.read();
      if (piece.empty()) break;
      all.append(piece);
    }
    co_return response::text(head.status, all);
  }
  task<response> forward(request& req) {
    portico::call_options o("POST", std::string(upstream_) + "/sink");
    o.body_length(-1);
    portico::call up(req, o);
    co_await portico::pipe(req, up);
    const portico_head& head = co_await up.head();
    portico::stream out(req, response(head.status));
    co_await portico::pipe(up, out);
    co_return out.end();
  }
  task<response> events(request& req) {
    portico::event_stream out(req);
    for (int i = 1; i <= 3; ++i) {
      co_await out.send("tick", "line " + std::to_string(i) + "\r\nand\ranother");
      co_await portico::sleep(req, 1s);
    }
    co_return out.end();
  }
  task<response> socket(request& req) {
    auto ws = portico::websocket::accept(req);
    while (const auto m = co_await ws.receive()) co_await ws.send_text(std::string(m->bytes()) + "!");
    co_return ws.end();
  }
  task<response> dial(request& req) {
    portico::websocket_options o("ws" + std::string(upstream_).substr(4) + "/feed");
    o.header("x-client", "me");
    auto ws = portico::websocket::connect(req, o);
    co_await ws.ready();
    co_await ws.send_text("hello");
    const auto m = co_await ws.receive();
    const std::string got(m ? m->bytes() : "nothing");
    co_return response::text(200, got);
  }
  task<response> work(request& req) {
    const int n = co_await portico::work(req, [&] { return server().loop_index(); });
    co_return response::text(200, std::to_string(n));
  }
  task<response> deadline(request& req) {
    req.deadline(5s);
    co_await portico::sleep(req, 1h);
    co_return response(200);
  }
  task<response> add(request& req) {
    int64_t sum = 0;
    if (adder_)
      co_await portico::ask(req,
                            [&](portico_done d, void* u) { return adder_.table().add(adder_.self(), 2, &sum, d, u); });
    co_return response::text(200, std::to_string(sum));
  }
  task<response> throws(request&) {
    throw portico::http_error(422, "no", "not so", "{\"why\":1}");
    co_return response(200);
  }
  task<response> short_of(request& req) {
    portico::stream out(req, response(200), 10);
    co_await out.write("four");
    co_return out.end();
  }
  task<std::optional<response>> guard(request& req) {
    if (req.token_id() == "bad") co_return response::text(403, "no");
    co_return std::nullopt;
  }
  static int32_t PORTICO_CALL echo_back(void*, int64_t n, int64_t* out, portico_done, void*) noexcept {
    *out = n;
    return PORTICO_READY;
  }
  static constexpr adder echo_table = {sizeof(adder), 0, &echo_back};

  std::chrono::milliseconds pause_;
  std::string_view upstream_;
  portico::service<adder> adder_;
  portico::metric calls_;
};

PORTICO_PLUGIN(tried, "test.tried", "1.0.0", "For the fake server's own tests.",
               portico::duration("pause", "5ms", "Before an answer.", 1, 60'000),
               portico::text("upstream", "http://up", "Where."), portico::text("mode", "", "How."),
               portico::flag("guard", "no", "Whether to filter."), portico::size("limit", "64k", "A size."))
