#include "plugins/comfyui_standin/standin.hpp"

#include <algorithm>

namespace standin {
namespace {

knobs from_settings(const portico::host& h) {
  knobs k;
  k.step_delay = h.duration("step_delay");
  k.previews = h.flag("previews");
  k.jobs_api = h.flag("jobs_api");
  k.unread_stalls = h.flag("unread_stalls");
  return k;
}

// The value of one parameter of a query, decoded; nothing when it is not there.
std::optional<std::string> parameter(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(pair.size() < query.size() ? pair.size() + 1 : query.size());
    const std::string_view key = pair.substr(0, pair.find('='));
    if (portico::detail::decode(key) != name) continue;
    return portico::detail::decode(pair.substr(key.size() < pair.size() ? key.size() + 1 : pair.size()));
  }
  return std::nullopt;
}

}  // namespace

// All but /ws and /standin.  Each is also served below /api, where newer clients look for it.
const standin::entry standin::table[] = {
    {"POST", "/prompt", &standin::post_prompt},
    {"GET", "/prompt", &standin::get_prompt},
    {"GET", "/queue", &standin::get_queue},
    {"POST", "/queue", &standin::post_queue},
    {"GET", "/history", &standin::get_history},
    {"GET", "/history/{id}", &standin::get_history_of},
    {"POST", "/history", &standin::post_history},
    {"POST", "/interrupt", &standin::post_interrupt},
    {"GET", "/view", &standin::get_view},
    {"POST", "/upload/image", &standin::post_upload},
    {"GET", "/system_stats", &standin::get_system_stats},
    {"GET", "/object_info", &standin::get_object_info},
    {"GET", "/object_info/{id}", &standin::get_object_info_of},
    {"GET", "/features", &standin::get_features},
    {"GET", "/jobs/{id}", &standin::get_job},
    {"POST", "/jobs/{id}/cancel", &standin::cancel_job},
};

const standin::entry standin::control[] = {
    {"GET", "/standin/knobs", &standin::get_knobs},       {"POST", "/standin/knobs", &standin::post_knobs},
    {"GET", "/standin/counters", &standin::get_counters}, {"POST", "/standin/reset", &standin::post_reset},
    {"POST", "/standin/restart", &standin::post_restart},
};

standin::standin(portico::host h)
    : plugin(h),
      max_body_(static_cast<std::int64_t>(h.bytes("max_upload_size"))),
      log_prompts_(h.flag("log_prompts")),
      defaults_(from_settings(h)),
      knobs_(defaults_),
      queue_(static_cast<std::size_t>(h.integer("max_history"))),
      folders_(h.bytes("max_output_bytes")),
      hub_(h, queue_, knobs_, counters_, [this](portico::task<void> t) { spawn(std::move(t)); }),
      executor_(h, queue_, folders_, hub_, knobs_) {}

void standin::serve_at(const char* method, const std::string& pattern,
                       portico::task<portico::response> (standin::*handler)(portico::request&)) {
  route(method, pattern.c_str(), handler, std::string_view(method) == "POST" ? max_body_ : -1);
}

template <std::size_t... I>
void standin::register_routes(std::index_sequence<I...>) {
  const auto one = [this](const entry& e, auto handler) {
    const std::string pattern = e.pattern;
    if (pattern.compare(0, 6, "/jobs/") != 0)
      serve_at(e.method, pattern, handler);  // ComfyUI has these below /api only
    serve_at(e.method, "/api" + pattern, handler);
  };
  (one(table[I], &standin::serve<I>), ...);
}

template <std::size_t... I>
void standin::register_control(std::index_sequence<I...>) {
  (serve_at(control[I].method, control[I].pattern, &standin::serve_control<I>), ...);
}

void standin::start() {
  register_routes(std::make_index_sequence<std::size(table)>());
  register_control(std::make_index_sequence<std::size(control)>());
  serve_at("GET", "/ws", &standin::socket);
  serve_at("GET", "/api/ws", &standin::socket);
  spawn(hub_.publish());
  spawn(executor_.run());
}

void standin::stop() noexcept {
  executor_.stop();
  hub_.stop();
}

std::string standin::call::query(std::string_view name) const { return parameter(query_text, name).value_or(""); }
bool standin::call::has_query(std::string_view name) const { return parameter(query_text, name).has_value(); }

std::string_view standin::call::header(std::string_view name) const {
  for (const auto& [key, value_text] : headers)
    if (key == name) return value_text;
  return {};
}

std::optional<fault> standin::take_fault(const std::string& route) {
  const auto it = knobs_.faults.find(route);
  if (it == knobs_.faults.end()) return std::nullopt;
  fault f = it->second;
  if (it->second.times > 0 && --it->second.times == 0) knobs_.faults.erase(it);
  return f;
}

portico::task<portico::response> standin::answer(portico::request& req, const entry& e, bool counted) {
  call c;
  c.id = req.param("id");
  c.query_text = portico::view(req.head().query);
  for (std::uint32_t i = 0; i < req.head().header_count; ++i)
    c.headers.emplace_back(portico::view(req.head().headers[i].name), portico::view(req.head().headers[i].value));
  if (req.content_length() != 0) c.body = co_await req.body(static_cast<std::size_t>(max_body_));
  co_await portico::move_to(server(), 0);

  std::optional<fault> broken;
  if (counted) {
    const std::string route = std::string(e.method) + ' ' + e.pattern;
    counters_.count(route);
    broken = take_fault(route);
  }
  if (broken && !broken->after && broken->cut_at < 0 && (broken->drop || broken->status)) {
    co_await portico::move_to(server(), req.loop());
    co_return co_await misbehave(req, std::move(*broken), {});
  }
  reply r = (this->*e.act)(c);
  co_await portico::move_to(server(), req.loop());
  if (!broken) co_return co_await send(req, std::move(r));
  if (broken->cut_at >= 0 || broken->drop || broken->status) {
    std::string body = r.file ? r.file->substr(r.from, r.length) : r.head.body();
    co_return co_await misbehave(req, std::move(*broken), std::move(body));
  }
  co_await portico::sleep(req, broken->delay);
  co_return co_await send(req, std::move(r));
}

portico::task<portico::response> standin::misbehave(portico::request& req, fault f, std::string true_body) {
  if (f.delay.count()) co_await portico::sleep(req, f.delay);
  if (f.drop) {
    portico_exchange* x = req.exchange();
    req.unwatch();
    req.given_back();
    server().http().abort(x);
    co_return portico::response(0);
  }
  const std::string& body = f.status && f.cut_at < 0 ? f.body : true_body.empty() ? f.body : true_body;
  portico::response head(f.status ? f.status : 200);
  head.header("content-type", f.content_type);
  portico::stream out(req, head, static_cast<std::int64_t>(body.size()));
  const std::size_t size = f.cut_at < 0 ? body.size() : std::min(body.size(), static_cast<std::size_t>(f.cut_at));
  if (size) co_await out.write(std::string_view(body).substr(0, size));
  if (f.cut_at >= 0) {
    co_await portico::sleep(req, std::chrono::milliseconds(20));  // what was written leaves before the reset
    throw portico::error(PORTICO_E_CLOSED);
  }
  co_return out.end();
}

portico::task<portico::response> standin::send(portico::request& req, reply r) {
  if (!r.file) co_return std::move(r.head);
  portico::stream out(req, r.head, static_cast<std::int64_t>(r.length));
  constexpr std::size_t piece = 256 * 1024;
  for (std::size_t at = 0; at < r.length && req.method() != "HEAD"; at += piece)
    co_await out.write(std::string_view(*r.file).substr(r.from + at, std::min(piece, r.length - at)));
  co_return out.end();
}

}  // namespace standin
