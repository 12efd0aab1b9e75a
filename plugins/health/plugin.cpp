// GET /api/v2/health: portico itself is up.  It never asks the upstream, so that a monitor can tell the two apart.
// GET /api/v2/openapi.yaml: the API, described.
#include <portico/sdk.hpp>

#include "plugins/health/body.hpp"
#include "plugins/health/openapi.hpp"

namespace {

class health final : public portico::plugin {
 public:
  static constexpr const char* routes[] = {"GET /api/v2/health", "GET /api/v2/openapi.yaml", nullptr};

  explicit health(portico::host h) : plugin(h), body_(portico::health::health_body(h.text("upstream"))) {}

  // On the C interface, because the answer is known beforehand and nothing is waited for: no coroutine, no allocation,
  // the same bytes each time.
  void start() override {
    const portico_route route = {sizeof(portico_route), PORTICO_ROUTE_OPEN,      "GET", "/api/v2/health", 0,
                                 &health::answer,       static_cast<void*>(this)};
    portico::check(server().http().route(server().raw(), &route));
    this->route("GET", "/api/v2/openapi.yaml", &health::describe);
  }

 private:
  portico::task<portico::response> describe(portico::request& req) {
    const std::string etag(portico::health::openapi_etag);
    if (req.header("if-none-match") == etag) co_return portico::response(304).header("etag", etag);
    co_return portico::response(200, "application/yaml", std::string(portico::health::openapi_document))
        .header("etag", etag);
  }

  // NOLINTNEXTLINE(bugprone-exception-escape): the C interface throws nothing
  static void PORTICO_CALL answer(void* user, portico_exchange* exchange, const portico_request*) noexcept {
    static constexpr portico_field type = {{"content-type", 12}, {"application/json; charset=utf-8", 31}};
    const auto& self = *static_cast<const health*>(user);
    const portico_http& http = self.server().http();
    // A client that has gone makes these fail, which changes nothing: the exchange is given back all the same.
    if (http.begin(exchange, 200, &type, 1, static_cast<int64_t>(self.body_.size())) == PORTICO_OK)
      http.write(exchange, portico::to_abi(self.body_), nullptr, nullptr);
    http.finish(exchange);
  }

  const std::string body_;
};

}  // namespace

PORTICO_PLUGIN(health, "health", "0.1.0", "Says that the server is up, without asking the upstream.",
               portico::upstream("upstream", "comfyui", "The upstream whose URL is shown; its user info is not."))
