// portico/testing/http.hpp - portico.http/1 and portico.filter/1 of the fake server.  Included by server.hpp.
#pragma once
#include <algorithm>
#include <cctype>
#include <fstream>

#include "fake_server.hpp"

namespace portico::testing::detail {

inline std::string decoded(std::string_view s) {
  std::string out;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '%' && i + 2 < s.size() && std::isxdigit(static_cast<unsigned char>(s[i + 1])) &&
        std::isxdigit(static_cast<unsigned char>(s[i + 2]))) {
      out += static_cast<char>(std::stoi(std::string(s.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      out += s[i];
    }
  }
  return out;
}

// Whether the pattern matches; rank orders patterns that do: a literal segment is better than a parameter, that than a
// rest.
inline bool matches(std::string_view pattern, std::string_view path, fields& params, std::string& rank) {
  while (!pattern.empty()) {
    if (path.empty()) return false;
    const std::size_t cut = pattern.find('/', 1);
    const std::string_view want = pattern.substr(0, cut), got = path.substr(0, path.find('/', 1));
    if (want.size() > 2 && want[1] == '{') {
      std::string_view name = want.substr(2, want.size() - 3);
      const bool rest = name.ends_with("...");
      if (rest) name.remove_suffix(3);
      const std::string_view value = rest ? path.substr(1) : got.substr(1);
      if (value.empty()) return false;
      params.emplace_back(name, decoded(value));
      rank += rest ? '0' : '1';
      if (rest) return true;
    } else {
      if (decoded(got) != want) return false;
      rank += '2';
    }
    pattern.remove_prefix(want.size());
    path.remove_prefix(got.size());
  }
  return path.empty();
}

inline void give_back(portico_exchange* x, bool aborted) {
  x->flush();
  const auto far = x->far;
  delete x;
  far->aborted = aborted;
  far->over = true;
}

inline int32_t add_route(const portico_host* h, const portico_route* r) {
  if (!in_start(h, "http route")) return PORTICO_E_STATE;
  if (!r->method || !r->pattern || r->pattern[0] != '/' || !r->on_request || (r->flags & ~PORTICO_ROUTE_OPEN))
    return PORTICO_E_ARGUMENT;
  for (const auto& other : of(h).srv->routes)
    if (other.method == r->method && other.pattern == r->pattern) return PORTICO_E_STATE;
  of(h).srv->routes.push_back({&of(h), r->method, r->pattern, r->max_body, r->flags, r->on_request, r->user});
  return PORTICO_OK;
}
inline int32_t http_read(portico_exchange* x, std::size_t max, portico_str* out, portico_done fn, void* user) {
  if (!x->here("http read")) return PORTICO_E_STATE;
  if (!out || !fn) return PORTICO_E_ARGUMENT;
  if (x->filtered || x->reading.busy || x->pipe) return PORTICO_E_STATE;
  if (x->late) return PORTICO_E_TIMEOUT;
  if (x->expects_continue) x->far->continued = true;
  int32_t rc = 0;
  if (x->take(max, out, rc)) return rc < 0 ? rc : PORTICO_READY;
  if (x->owner->stopping) return PORTICO_E_CANCELLED;
  x->read_out = out;
  x->read_max = max;
  return x->begin(x->reading, fn, user);
}
inline bool allowed_field(const std::string& name, const std::string& value) {
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (lower == "content-length" || lower == "transfer-encoding" || lower == "connection" || lower == "date")
    return false;
  const bool token = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) || std::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) != std::string_view::npos;
  });
  return token &&
         std::none_of(value.begin(), value.end(), [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; });
}
inline int32_t http_begin(portico_exchange* x, int32_t status, const portico_field* f, std::size_t n, int64_t length) {
  if (!x->here("http begin")) return PORTICO_E_STATE;
  if (x->begun) return PORTICO_E_STATE;
  if (status < 200 || status > 599 || length < -1) return PORTICO_E_ARGUMENT;
  fields headers;
  for (std::size_t i = 0; i < n; ++i) {
    headers.emplace_back(str(f[i].name), str(f[i].value));
    if (!allowed_field(headers.back().first, headers.back().second)) return PORTICO_E_ARGUMENT;
  }
  if (x->gone) return PORTICO_E_CLOSED;
  x->begun = true;
  x->promised = length;
  x->far->status = status;
  x->far->headers = headers;
  return PORTICO_OK;
}
inline int32_t http_write(portico_exchange* x, portico_str bytes, portico_done fn, void* user) {
  if (!x->here("http write")) return PORTICO_E_STATE;
  if (!x->begun || x->writing.busy || (x->pipe && fn)) return PORTICO_E_STATE;
  if (x->gone) return PORTICO_E_CLOSED;
  if (!fn && x->queued >= high_water) return PORTICO_E_LIMIT;
  x->put(bytes);
  if (!fn) return PORTICO_OK;
  if (x->queued < high_water) return PORTICO_READY;
  if (x->owner->stopping) return PORTICO_E_CANCELLED;
  return x->begin(x->writing, fn, user);
}
// A part of an open file; false when it is shorter, or the system does not show open files under /proc.
inline bool read_file(int64_t file, uint64_t offset, std::string& to) {
  std::ifstream from("/proc/self/fd/" + std::to_string(file), std::ios::binary);
  from.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(from.read(to.data(), static_cast<std::streamsize>(to.size())));
}
inline int32_t http_send_file(portico_exchange* x, int64_t file, uint64_t offset, uint64_t size, portico_done fn,
                              void* user) {
  if (!x->here("http send_file")) return PORTICO_E_STATE;
  if (!fn) return PORTICO_E_ARGUMENT;
  std::string bytes(static_cast<std::size_t>(size), '\0');
  if (!read_file(file, offset, bytes)) {
    x->owner->srv->fault(x->what() + " was to send more of a file than there is, or can be read here");
    return PORTICO_E_CLOSED;
  }
  return http_write(x, {bytes.data(), bytes.size()}, fn, user);
}
inline int32_t http_finish(portico_exchange* x) {
  if (!x->here("http finish") || x->busy()) return PORTICO_E_STATE;
  if (!x->begun && !x->gone) {
    x->owner->srv->fault(x->what() + " was finished without a response");
    x->far->status = 500;
  }
  const bool short_of = x->begun && x->promised >= 0 && x->written < x->promised && !x->gone && x->method != "HEAD";
  if (short_of) x->owner->srv->fault(x->what() + " was finished with fewer bytes than it had promised");
  give_back(x, short_of || x->gone);
  return PORTICO_OK;
}
inline int32_t http_abort(portico_exchange* x) {
  if (!x->here("http abort") || x->busy()) return PORTICO_E_STATE;
  give_back(x, true);
  return PORTICO_OK;
}
inline int32_t http_cancel(portico_exchange* x) {
  if (!x->here("http cancel")) return PORTICO_E_STATE;
  x->complete(x->reading, PORTICO_E_CANCELLED);
  x->complete(x->writing, PORTICO_E_CANCELLED);
  if (x->pipe) x->pipe->fail_all(PORTICO_E_CANCELLED);
  return PORTICO_OK;
}
inline int32_t http_on_close(portico_exchange* x, portico_done fn, void* user) {
  if (!x->here("http on_close")) return PORTICO_E_STATE;
  x->close_fn = fn;
  x->close_user = user;
  if (x->close_reason) x->tell(x->close_reason);
  return PORTICO_OK;
}
inline int32_t http_deadline(portico_exchange* x, uint32_t ms) {
  if (!x->here("http deadline")) return PORTICO_E_STATE;
  const uint32_t no = ++x->deadline_no;
  if (ms)
    x->later(std::chrono::milliseconds(ms), [x, no] {
      if (no != x->deadline_no) return;
      x->late = true;
      x->complete(x->reading, PORTICO_E_TIMEOUT);
      x->tell(PORTICO_E_TIMEOUT);
    });
  return PORTICO_OK;
}

inline int32_t filter_add(const portico_host* h, portico_on_request fn, void* user) {
  if (!in_start(h, "filter add")) return PORTICO_E_STATE;
  if (!fn) return PORTICO_E_ARGUMENT;
  of(h).srv->filters.push_back({&of(h), fn, user});
  return PORTICO_OK;
}
inline int32_t filter_pass(portico_exchange* x) {
  if (!x->here("filter pass") || !x->filtered || x->begun || x->busy()) return PORTICO_E_STATE;
  server& s = *x->owner->srv;
  x->close_fn = nullptr;
  ++x->step;
  s.loops.post(x->home, [&s, x] { s.enter(x); });
  return PORTICO_OK;
}

}  // namespace portico::testing::detail

inline bool portico_exchange::take(std::size_t max, portico_str* to, int32_t& rc) {
  rc = 0;
  if (!in.empty()) {
    chunk = std::move(in.front());
    in.pop_front();
    if (max && chunk.size() > max) {
      in.push_front(chunk.substr(max));
      chunk.resize(max);
    }
    taken += static_cast<int64_t>(chunk.size());
    if (max_body >= 0 && taken > max_body) return rc = PORTICO_E_LIMIT, true;
    *to = portico::testing::detail::abi(chunk);
    return true;
  }
  if (in_end) return *to = portico_str{nullptr, 0}, true;
  if (gone) return rc = PORTICO_E_CLOSED, true;
  return false;
}
inline void portico_exchange::arrived() {
  if (pipe) pipe->pump();
  int32_t rc = 0;
  if (reading.waiting && take(read_max, read_out, rc)) complete(reading, rc);
}
inline void portico_exchange::put(portico_str bytes) {
  written += static_cast<int64_t>(bytes.size);
  queued += bytes.size;
  if (method != "HEAD") turn.append(bytes.data ? bytes.data : "", bytes.size);
  far->most_queued = std::max(far->most_queued, queued);
  if (dirty) return;
  dirty = true;
  owner->srv->loops.at_end_of_turn(home, [this, a = alive] {
    if (*a) flush();
  });
}
// The end of a turn, or a client that reads again: everything queued leaves in one call.
inline void portico_exchange::flush() {
  dirty = false;
  if (slow || gone) return;
  if (!turn.empty()) far->body += turn, ++far->flushes;
  turn.clear();
  queued = 0;
  complete(writing, PORTICO_OK);
  if (pipe)
    later(std::chrono::milliseconds(0), [this] {
      if (pipe) pipe->pump();
    });
}
inline void portico_exchange::tell(int32_t reason) {
  close_reason = reason;
  later(std::chrono::milliseconds(0), [this, reason] {
    if (!close_fn) return;
    const auto fn = std::exchange(close_fn, nullptr);
    fn(close_user, reason);
  });
}
inline void portico_exchange::lost() {
  gone = true;
  int32_t rc = 0;
  if (reading.waiting && take(read_max, read_out, rc)) complete(reading, rc);
  complete(writing, PORTICO_E_CLOSED);
  if (pipe) pipe->pump();
  tell(PORTICO_E_CLOSED);
}
inline void portico_exchange::stop() {
  complete(reading, PORTICO_E_CANCELLED);
  complete(writing, PORTICO_E_CANCELLED);
  tell(PORTICO_E_CANCELLED);
}
