#include "plugins/jobs/comfyui.hpp"

#include <chrono>
#include <portico/response.hpp>
#include <portico/work.hpp>
#include <utility>

#include "plugins/comfy/errors.hpp"

namespace jobs {
namespace {

using namespace std::chrono_literals;
using portico::task;

constexpr auto answer_within = 25s;  // clients give up after 30 s
constexpr std::size_t longest_answer = 512u << 20;
constexpr std::size_t long_text = 256u << 10;  // from here on reading it would hold up the loop

task<comfyui::reply> read_answer(portico::call& call) {
  const portico_head& head = co_await call.head();
  comfyui::reply r;
  r.status = head.status;
  if (head.content_length > 0 && head.content_length <= static_cast<int64_t>(longest_answer))
    r.body.reserve(static_cast<std::size_t>(head.content_length));
  for (;;) {
    const std::string_view chunk = co_await call.read();
    if (chunk.empty()) co_return r;
    if (chunk.size() > longest_answer - r.body.size())
      throw portico::error(PORTICO_E_PROTOCOL, "ComfyUI's answer is too long");
    r.body.append(chunk);
  }
}

void expect_ok(const comfyui::reply& r, const char* path) {
  if (r.status != 200) throw_upstream_error("ComfyUI answered " + std::to_string(r.status) + " to " + path);
}

}  // namespace

void throw_upstream_failure(const portico::error& e) {
  switch (e.code()) {
    case PORTICO_E_UNREACHABLE:
    case PORTICO_E_TIMEOUT:
    case PORTICO_E_CLOSED:
      throw portico::http_error(503, comfy::code::upstream_unreachable,
                                std::string("ComfyUI did not answer: ") + e.what());
    case PORTICO_E_PROTOCOL:
      throw_upstream_error("ComfyUI's answer is not HTTP");
    default:
      throw e;
  }
}

void throw_upstream_error(std::string what) {
  throw portico::http_error(500, comfy::code::upstream_error, std::move(what));
}

task<comfyui::reply> comfyui::prompt(std::shared_ptr<const std::string> graph, std::string id, std::string client_id,
                                     std::string extra_data) const {
  const std::string before = "{\"prompt\":";
  std::string after = ",\"prompt_id\":\"" + id + "\",\"client_id\":\"" + client_id + "\"";
  if (!extra_data.empty()) after.append(",\"extra_data\":").append(extra_data);
  after += '}';
  portico::call_options options("POST", std::string(url_) + "/prompt");
  options.header("content-type", "application/json").total_timeout(answer_within);
  options.body_length(static_cast<int64_t>(before.size() + graph->size() + after.size()));
  portico::call call(host_, options);
  bool more = co_await call.write(before);
  if (more) more = co_await call.write(*graph);
  if (more) co_await call.write(after);
  co_return co_await read_answer(call);
}

task<comfyui::reply> comfyui::ask(std::string method, std::string path, std::string body) const {
  portico::call_options options(std::move(method), std::string(url_) + path);
  options.total_timeout(answer_within).body_length(static_cast<int64_t>(body.size()));
  if (!body.empty()) options.header("content-type", "application/json");
  try {
    portico::call call(host_, options);
    if (!body.empty()) co_await call.write(body);
    co_return co_await read_answer(call);
  } catch (const portico::error& e) {
    throw_upstream_failure(e);
  }
}

task<std::shared_ptr<const queue_snapshot>> comfyui::queue() const {
  const reply r = co_await ask("GET", "/queue", "");
  expect_ok(r, "/queue");
  auto snapshot = std::make_shared<queue_snapshot>();
  try {
    if (r.body.size() < long_text)
      *snapshot = read_queue(r.body);
    else
      co_await portico::work(host_, [&] { *snapshot = read_queue(r.body); });
  } catch (const not_comfyui& e) {
    throw_upstream_error(e.what);
  }
  co_return snapshot;
}

task<std::optional<ending>> comfyui::history(std::string id) const {
  const reply r = co_await ask("GET", "/history/" + id, "");
  expect_ok(r, "/history");
  std::optional<ending> found;
  try {
    if (r.body.size() < long_text)
      found = read_history(r.body, id);
    else
      co_await portico::work(host_, [&] { found = read_history(r.body, id); });
  } catch (const not_comfyui& e) {
    throw_upstream_error(e.what);
  }
  co_return found;
}

task<bool> comfyui::cancel(std::string id) const {
  const reply r = co_await ask("POST", "/api/jobs/" + id + "/cancel", "");
  if (r.status == 404 || r.status == 405 || r.status == 501) co_return co_await cancel_in_old_version(id);
  expect_ok(r, "a cancel");
  try {
    co_return read_cancelled(r.body);
  } catch (const not_comfyui& e) {
    throw_upstream_error(e.what);
  }
}

// Old versions know only these two.  The oldest ignore the prompt_id of an interrupt and stop whatever runs, so it is
// sent only while this job runs.  A job can begin to run between the reading and the delete, so there is a second look.
task<bool> comfyui::cancel_in_old_version(std::string id) const {
  const std::optional<job_id> parsed = parse_job_id(id);
  if (!parsed) co_return false;
  bool told = false;
  for (int look = 0; look < 2; ++look) {
    const std::shared_ptr<const queue_snapshot> now = co_await queue();
    if (now->running.contains(*parsed)) {
      const reply r = co_await ask("POST", "/interrupt", "{\"prompt_id\":\"" + id + "\"}");
      expect_ok(r, "/interrupt");
      co_return true;
    }
    if (!now->pending.contains(*parsed)) co_return told;
    const reply r = co_await ask("POST", "/queue", "{\"delete\":[\"" + id + "\"]}");
    expect_ok(r, "/queue");
    told = true;
  }
  co_return told;
}

std::string comfyui::feed_url(std::string_view client_id) const {
  // "http" becomes "ws", "https" becomes "wss".
  std::string url = "ws";
  url.append(url_.starts_with("http") ? url_.substr(4) : url_);
  return url.append("/ws?clientId=").append(client_id);
}

}  // namespace jobs
