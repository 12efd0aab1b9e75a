#include "core/upstream/client.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/http/syntax.hpp"
#include "core/http/websocket_handshake.hpp"
#include "core/http/writer.hpp"
#include "core/upstream/call.hpp"
#include "core/upstream/client_state.hpp"
#include "core/upstream/url.hpp"
#include "core/upstream/websocket_client.hpp"

namespace portico::upstream {
namespace {

using http::field;
namespace syntax = http::syntax;

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view n) { return base::equal_ignoring_case(n, name); });
}

// Empty, or what is wrong with the headers of a caller.
std::string_view header_fault(std::span<const field> headers, bool websocket) {
  for (const field& f : headers) {
    if (!syntax::is_token(f.name)) return "a header name that is not a token";
    if (!syntax::is_value(f.value)) return "a header value with a control character";
    if (is_one_of(f.name, {"host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te",
                           "trailer", "expect"}))
      return "a header that the server sets itself (host, framing, connection, expect)";
    if (websocket && base::starts_with_ignoring_case(f.name, "sec-websocket-"))
      return "a header of the handshake itself";
  }
  return {};
}

bool is_method(std::string_view method) {
  return !method.empty() && method != "CONNECT" &&
         std::all_of(method.begin(), method.end(), [](char c) { return syntax::of(syntax::method_char, c) != 0; });
}

bool has(std::span<const field> headers, std::string_view name) {
  return std::any_of(headers.begin(), headers.end(),
                     [&](const field& f) { return base::equal_ignoring_case(f.name, name); });
}

// The caller's headers behind those of ours, in memory that lasts from call to call.
class head_writer {
 public:
  explicit head_writer(std::span<const field> theirs) : theirs_(theirs) {}
  void add(std::string_view name, std::string_view value) { ours_[count_++] = {name, value}; }
  void write(http::buffer& to, std::string_view method, std::string_view target) {
    fields().assign(ours_, ours_ + count_);
    fields().insert(fields().end(), theirs_.begin(), theirs_.end());
    http::append_request_head(to, method, target, fields());
  }

 private:
  static std::vector<field>& fields() {
    static thread_local std::vector<field> all;
    return all;
  }
  std::span<const field> theirs_;
  field ours_[8];
  std::size_t count_ = 0;
};

}  // namespace

struct client::state {
  std::shared_ptr<client_state> shared;

  base::status refuse(std::string_view what, std::string_view why) {
    // What is configured wrong is used again and again: once is enough.
    if (why.find("no TLS") != why.npos && std::exchange(shared->told_of_tls, true)) return base::argument;
    base::log(base::level::warning, "upstream", std::string(what) + " refused: " + std::string(why));
    return base::argument;
  }
};

client::client(loop::event_loop& l, loop::workers& pool, std::shared_ptr<const std::vector<settings>> upstreams)
    : state_(std::make_unique<state>()) {
  state_->shared = std::make_shared<client_state>(l, pool, std::move(upstreams));
}

client::~client() { state_->shared->end(); }

base::status client::open(const call_options& o, std::unique_ptr<call>* out) {
  client_state& c = *state_->shared;
  url at;
  if (const auto why = parse_url(o.url, "http", &at); !why.empty()) return state_->refuse("a call", why);
  if (!is_method(o.method)) return state_->refuse("a call", "the method is not a token in capital letters, or CONNECT");
  if (o.content_length < -1) return state_->refuse("a call", "a content length below -1");
  if (const auto why = header_fault(o.headers, false); !why.empty()) return state_->refuse("a call", why);

  const settings& s = c.settings_for(o.url);
  auto made = std::make_unique<call_impl>(state_->shared, s, o);
  head_writer head(o.headers);
  head.add("Host", at.authority);
  char length[24];
  // A body of no bytes is said where a server may expect one.
  if (o.content_length < 0)
    head.add("Transfer-Encoding", "chunked");
  else if (o.content_length > 0 || o.method == "POST" || o.method == "PUT" || o.method == "PATCH")
    head.add("Content-Length", {length, std::to_chars(length, length + sizeof length, o.content_length).ptr});
  const std::string authorization = has(o.headers, "authorization") ? std::string() : at.authorization();
  if (!authorization.empty()) head.add("Authorization", authorization);
  const std::string built = at.path.empty() ? at.target() : std::string();
  const std::string_view target =
      at.path.empty() ? std::string_view(built) : std::string_view(at.path.data(), at.path.size() + at.query.size());
  head.write(made->head_bytes(), o.method, target);
  made->start(c.origin_for(at.authority, s), at.host, at.port);
  *out = std::move(made);
  return base::ok;
}

base::status client::connect(const websocket_call& o, std::unique_ptr<websocket>* out) {
  client_state& c = *state_->shared;
  url at;
  if (const auto why = parse_url(o.url, "ws", &at); !why.empty()) return state_->refuse("a websocket", why);
  if (const auto why = header_fault(o.headers, true); !why.empty()) return state_->refuse("a websocket", why);
  if (!syntax::is_value(o.protocol)) return state_->refuse("a websocket", "a subprotocol with a control character");

  // Settings are named by their http:// address.
  const settings& s = c.settings_for("http" + std::string(o.url.substr(o.url.find(':'))));
  const std::string key = http::make_websocket_key(), authorization = at.authorization();
  auto made = std::make_unique<websocket_impl>(state_->shared, o.options, o.protocol, key);
  head_writer head(o.headers);
  head.add("Host", at.authority);
  head.add("Connection", "Upgrade");
  head.add("Upgrade", "websocket");
  head.add("Sec-WebSocket-Version", "13");
  head.add("Sec-WebSocket-Key", key);
  if (!o.protocol.empty()) head.add("Sec-WebSocket-Protocol", o.protocol);
  if (!authorization.empty() && !has(o.headers, "authorization")) head.add("Authorization", authorization);
  head.write(made->head_bytes(), "GET", at.target());
  made->start(c.origin_for(at.authority, s), at.host, at.port, o.connect.count() > 0 ? o.connect : s.connect_timeout);
  *out = std::move(made);
  return base::ok;
}

statistics client::stats() const noexcept {
  const client_state& c = *state_->shared;
  return {c.opened.read(), c.reused.read(), c.open.read(), c.idle.read(), c.calls.read(), c.failures.read()};
}

}  // namespace portico::upstream
