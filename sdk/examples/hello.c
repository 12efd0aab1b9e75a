/* hello.c - GET /hello-c in plain C: the whole of a plugin without the SDK. */
#include <portico/abi/http.h>
#include <portico/abi/plugin.h>
#include <stdlib.h>
#include <string.h>

typedef struct hello {
  const portico_host *host;
  const portico_http *http;
} hello;

static portico_str str(const char *s) {
  portico_str out;
  out.data = s;
  out.size = strlen(s);
  return out;
}

static void PORTICO_CALL greet(void *user, portico_exchange *x, const portico_request *request) {
  const hello *self = user;
  const portico_str body = str("Hello from C!\n");
  portico_field type;
  (void)request;
  type.name = str("content-type");
  type.value = str("text/plain");
  if (self->http->begin(x, 200, &type, 1, (int64_t)body.size) == PORTICO_OK)
    self->http->write(x, body, NULL, NULL); /* too small to wait for; a lost client is no matter */
  self->http->finish(x);
}

static int32_t PORTICO_CALL create(const portico_host *host, void **self, portico_error *error) {
  hello *h = malloc(sizeof *h);
  if (!h) return error->code = PORTICO_E_FAILED;
  h->host = host;
  h->http = host->find(host, PORTICO_HTTP);
  *self = h;
  return PORTICO_OK;
}

static int32_t PORTICO_CALL start(void *self, portico_error *error) {
  const hello *h = self;
  portico_route route = {.struct_size = sizeof route, .method = "GET", .pattern = "/hello-c", .max_body = -1};
  route.on_request = greet;
  route.user = self;
  return error->code = h->http->route(h->host, &route);
}

static void PORTICO_CALL stop(void *self) { (void)self; }
static void PORTICO_CALL destroy(void *self) { free(self); }

PORTICO_EXPORT const portico_plugin *PORTICO_CALL portico_query(uint32_t major) {
  static const char *const routes[] = {"GET /hello-c", NULL};
  static const portico_plugin plugin = {
      .struct_size = sizeof plugin,
      .id = "org.example.hello-c",
      .version = "1.0.0",
      .summary = "Greets from C.",
      .create = create,
      .start = start,
      .stop = stop,
      .destroy = destroy,
      .routes = routes,
  };
  return major == PORTICO_ABI_MAJOR ? &plugin : NULL;
}
