// greeter - GET /greet/{name} answers with a greeting, in the words the operator has set.
#include <portico/sdk.hpp>

#include <string>

class greeter final : public portico::plugin {
 public:
  // For `portico plugins`, which lists routes without starting the plugin.
  static constexpr const char* routes[] = {"GET /greet/{name}", nullptr};

  // Reads settings; no effects yet.
  explicit greeter(portico::host h) : plugin(h), greeting_(h.text("greeting")), pause_(h.duration("pause")) {}

  // Before anything is served.  What is thrown here keeps the server from starting, with its text.
  void start() override {
    greeted_ = portico::metric::counter(server(), "greeted_total", "Greetings that were given.");
    route("GET", "/greet/{name}", &greeter::greet);
  }

 private:
  // Runs on the loop of its connection, many at a time on each loop, and on all loops at once.
  portico::task<portico::response> greet(portico::request& req) {
    const auto name = req.param("name");
    if (name.size() > 100) throw portico::http_error(422, "name_too_long", "a name has at most 100 bytes");
    co_await portico::sleep(req, pause_);  // blocks nobody; ends with an error when the client goes
    greeted_.record();
    std::string text(greeting_);
    co_return portico::response::text(200, text.append(", ").append(name).append("!\n"));
  }

  std::string_view greeting_;
  std::chrono::milliseconds pause_;
  portico::metric greeted_;
};

PORTICO_PLUGIN(greeter, "org.example.greeter", "1.0.0", "Greets by name.",
               portico::text("greeting", "Hello", "The first word of the greeting."),
               portico::duration("pause", "1ms", "How long to think first.", 0, 60'000))
