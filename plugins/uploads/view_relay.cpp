#include "plugins/uploads/view_relay.hpp"

#include <charconv>
#include <utility>

#include "plugins/comfy/content_type.hpp"
#include "plugins/comfy/errors.hpp"
#include "plugins/uploads/conditions.hpp"

namespace portico::uploads {
namespace {

std::string_view field_of(const portico_head& head, std::string_view name) noexcept {
  for (std::size_t i = 0; i < head.header_count; ++i)
    if (view(head.headers[i].name) == name) return view(head.headers[i].value);
  return {};
}

// The size of the whole file, where the head tells it.
std::optional<std::uint64_t> whole_size(const portico_head& head) noexcept {
  if (!field_of(head, "content-encoding").empty()) return std::nullopt;
  if (head.status == 200 && head.content_length >= 0) return static_cast<std::uint64_t>(head.content_length);
  const std::string_view range = field_of(head, "content-range");
  const std::size_t slash = range.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const char *first = range.data() + slash + 1, *end = range.data() + range.size();
  std::uint64_t size = 0;
  const auto [stop, problem] = std::from_chars(first, end, size);
  return problem == std::errc() && stop == end && first != end ? std::optional(size) : std::nullopt;
}

call_options ask_for(const request& req, std::string url, const std::optional<byte_range>& range, bool as_get) {
  call_options ask(as_get ? "GET" : std::string(req.method()), std::move(url));
  // A coded body could not be cut into ranges, nor its length told.
  ask.header("accept-encoding", "identity");
  if (range) {
    ask.header("range", to_header(*range));
    if (const auto if_range = req.header("if-range"); !if_range.empty()) ask.header("if-range", std::string(if_range));
  }
  for (const char* name : {"if-none-match", "if-modified-since"})
    if (const auto value = req.header(name); !value.empty()) ask.header(name, std::string(value));
  return ask;
}

response head_for(const portico_head& head, const expected_file& what) {
  response answer(head.status);
  std::string type = what.content_type.empty() ? std::string(field_of(head, "content-type")) : what.content_type;
  if (type.empty()) type = comfy::content_type_of(what.file.name);
  label(answer, std::move(type), std::string(field_of(head, "content-disposition")), base_name(what.file.name));
  for (const char* name :
       {"accept-ranges", "cache-control", "content-encoding", "content-range", "etag", "last-modified"})
    if (const auto value = field_of(head, name); !value.empty()) answer.header(name, std::string(value));
  return answer;
}

response not_modified(const portico_head& head) {
  response answer(304);
  for (const char* name : {"cache-control", "etag", "last-modified"})
    if (const auto value = field_of(head, name); !value.empty()) answer.header(name, std::string(value));
  return answer;
}

http_error unsatisfiable(const portico_head& head) {
  http_error e(416, "range_not_satisfiable", "the file has no bytes in the range that was asked for");
  if (const auto value = field_of(head, "content-range"); !value.empty())
    return std::move(e).header("content-range", std::string(value));
  return e;
}

http_error unavailable() {
  return http_error(404, comfy::code::output_unavailable,
                    "the file is no longer there: it was moved, deleted or replaced");
}

// Whatever went wrong before the answer's head: nothing was sent yet, so the client can be told.
http_error unreachable(const error& e) {
  return http_error(500, comfy::code::upstream_error,
                    std::string("the file could not be asked for upstream: ") + e.what());
}

// Upstreams read If-Range differently (some know only its date form), so what they made of it is checked.
bool is_of_another_version(std::string_view if_range, const portico_head& head) noexcept {
  return !if_range.empty() && !is_the_version(if_range, field_of(head, "etag"), field_of(head, "last-modified"));
}

task<const portico_head*> head_of(call& up) {
  try {
    co_return &co_await up.head();
  } catch (const error& e) {
    if (e.code() == PORTICO_E_CANCELLED) throw;
    throw unreachable(e);
  }
}

}  // namespace

task<response> relay_view(request& req, std::string_view upstream, expected_file what, bool* gone) {
  if (!is_contained(what.file)) {
    *gone = true;
    throw unavailable();
  }
  const std::string url = std::string(upstream) + view_path(what.file);
  const bool conditional = !req.header("if-none-match").empty() || !req.header("if-modified-since").empty();
  std::optional<byte_range> range = range_of(req);
  bool as_get = false;  // for a HEAD that the upstream does not know
  for (;;) {
    const call_options ask = ask_for(req, url, range, as_get);
    call up(req, ask);
    const portico_head& head = *co_await head_of(up);
    const bool partial = head.status == 206 || head.status == 416;
    if (req.method() == "HEAD" && !as_get && (head.status == 405 || head.status == 501)) {
      as_get = true;
    } else if (partial && range && is_of_another_version(req.header("if-range"), head)) {
      range.reset();
    } else {
      const auto size = whole_size(head);
      const bool another = what.size && size && *size != *what.size && (head.status == 200 || partial);
      if (head.status == 404 || another) *gone = true;
      if (*gone) throw unavailable();
      const bool has_version = head.status == 200 || head.status == 206 || head.status == 304;
      if (has_version && is_another_version(req.header("if-match"), req.header("if-unmodified-since"),
                                            field_of(head, "etag"), field_of(head, "last-modified")))
        throw another_version();
      if (head.status == 304 && conditional) co_return not_modified(head);
      if (head.status == 416 && range) throw unsatisfiable(head);
      if (head.status != 200 && !(head.status == 206 && range))
        throw http_error(502, comfy::code::upstream_error,
                         "the upstream answered a request for the file with status " + std::to_string(head.status));
      stream out(req, head_for(head, what), head.content_length);
      if (req.method() != "HEAD") co_await pipe(up, out);
      co_return out.end();
    }
  }
}

task<bool> is_upstream(context where, std::string_view upstream, file_ref file, std::uint64_t size) {
  call_options ask("HEAD", std::string(upstream) + view_path(file));
  ask.header("accept-encoding", "identity");
  try {
    call up(where, ask);
    const portico_head& head = co_await up.head();
    if (head.status == 400 || head.status == 403 || head.status == 404) co_return false;
    const std::optional<std::uint64_t> there = whole_size(head);
    co_return head.status != 200 || !there || *there == size;
  } catch (const error& e) {
    if (e.code() == PORTICO_E_CANCELLED) throw;
    co_return true;
  }
}

}  // namespace portico::uploads
