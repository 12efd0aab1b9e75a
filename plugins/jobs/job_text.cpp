#include "plugins/jobs/job_text.hpp"

#include <algorithm>
#include <portico/response.hpp>

#include "plugins/jobs/clock.hpp"

namespace jobs {
namespace {

using portico::append_json_string;

constexpr std::string_view jobs_path = "/api/v2/jobs/";

void append_quoted_time(std::string& out, std::int64_t us) {
  out += '"';
  append_time(out, us);
  out += '"';
}

void append_time_or_null(std::string& out, std::int64_t us) {
  if (us > 0)
    append_quoted_time(out, us);
  else
    out += "null";
}

void append_text_or_null(std::string& out, const std::optional<std::string>& text) {
  if (text)
    append_json_string(out, *text);
  else
    out += "null";
}

void append_link(std::string& out, std::string_view name, std::string_view id, std::string_view rest) {
  out.append("\"").append(name).append("\":\"") += base_url_mark;
  out.append(jobs_path).append(id).append(rest).append("\"");
}

void append_error(std::string& out, const job_error& e) {
  append_json_string(out.append("{\"code\":"), e.code);
  append_json_string(out.append(",\"message\":"), e.message);
  append_text_or_null(out.append(",\"node_id\":"), e.node_id);
  append_text_or_null(out.append(",\"class_type\":"), e.class_type);
  out.append(",\"traceback\":null}");  // ComfyUI's holds paths of its host
}

}  // namespace

void render(std::string& out, std::string_view text, std::string_view base_url, std::int64_t now_us) {
  std::string expiry;
  out.reserve(out.size() + text.size() + 8 * base_url.size());
  std::size_t at = 0, link = text.find(base_url_mark), time = text.find(expiry_mark);
  while (link != time) {  // both npos: no mark is left
    const std::size_t mark = std::min(link, time);
    out.append(text.substr(at, mark - at));
    at = mark + 1;
    if (mark == link) {
      out.append(base_url);
      link = text.find(base_url_mark, at);
    } else {
      if (expiry.empty()) append_time(expiry, now_us + day_us);
      out.append(expiry);
      time = text.find(expiry_mark, at);
    }
  }
  out.append(text.substr(at));
}

void append_output(std::string& out, const output& o, std::string_view asset_id, std::string_view job_id) {
  append_json_string(out.append("{\"node_id\":"), o.node_id);
  append_json_string(out.append(",\"name\":"), o.filename);
  append_json_string(out.append(",\"type\":"), o.type);
  append_json_string(out.append(",\"content_type\":"), o.content_type);
  append_json_string(out.append(",\"size_bytes\":0,\"id\":"), asset_id);
  out.append(",\"hash\":null,\"url\":\"") += base_url_mark;
  out.append("/api/v2/assets/").append(asset_id).append("/content\",\"url_expires_at\":\"") += expiry_mark;
  append_json_string(out.append("\",\"job_id\":"), job_id);
  out += '}';
}

namespace {

// ComfyUI counts whole milliseconds: what it did at once must not seem to have been done before the job was submitted.
std::int64_t not_before(std::int64_t created_us, std::int64_t us) noexcept {
  return us < created_us && created_us - us < 1000 ? created_us : us;
}

}  // namespace

void append_job(std::string& out, const job_facts& job, const std::vector<std::string>& outputs) {
  out.append("{\"id\":\"")
      .append(job.id)
      .append("\",\"status\":\"")
      .append(to_text(job.state))
      .append("\",\"created_at\":");
  append_quoted_time(out, job.created_us);
  append_quoted_time(out.append(",\"expires_at\":"), job.created_us + day_us);
  append_time_or_null(out.append(",\"started_at\":"), not_before(job.created_us, job.started_us));
  append_time_or_null(out.append(",\"completed_at\":"), not_before(job.created_us, job.completed_us));
  out.append(",\"queue_position\":").append(job.queue_position ? std::to_string(*job.queue_position) : "null");
  out.append(",\"progress\":");
  if (job.running)
    append_progress(out, *job.running);
  else
    out += "null";
  out.append(",\"outputs\":[");
  for (std::size_t i = 0; i < outputs.size(); ++i) out.append(i ? "," : "").append(outputs[i]);
  out.append("],\"error\":");
  if (job.error)
    append_error(out, *job.error);
  else
    out += "null";
  out.append(job.outputs_reused ? ",\"outputs_reused\":true,\"urls\":{" : ",\"outputs_reused\":false,\"urls\":{");
  append_link(out, "self", job.id, "");
  append_link(out += ',', "events", job.id, "/events");
  append_link(out += ',', "cancel", job.id, "/cancel");
  out += '}';
  if (job.metadata && *job.metadata) append_json_string(out.append(",\"metadata\":"), **job.metadata);
  if (job.priority) out.append(",\"priority\":").append(std::to_string(*job.priority));
  out += '}';
}

// It was written by append_job, so its outputs are the objects between the first "outputs":[ and its bracket.
std::vector<std::string> outputs_in(std::string_view job) {
  constexpr std::string_view list = "\"outputs\":[";
  std::vector<std::string> found;
  bool in_text = false;
  std::size_t depth = 0, begin = 0;
  for (std::size_t i = job.find(list) + list.size(); i < job.size(); ++i) {
    const char c = job[i];
    if (in_text && c == '\\')
      ++i;
    else if (c == '"')
      in_text = !in_text;
    else if (!in_text && c == '{' && depth++ == 0)
      begin = i;
    else if (!in_text && c == '}' && --depth == 0)
      found.emplace_back(job.substr(begin, i + 1 - begin));
    else if (!in_text && c == ']' && depth == 0)
      break;
  }
  return found;
}

std::string status_event(status state, std::optional<std::uint32_t> queue_position) {
  std::string out = "{\"status\":\"";
  out.append(to_text(state)).append("\"");
  if (queue_position) out.append(",\"queue_position\":").append(std::to_string(*queue_position));
  return out += '}';
}

}  // namespace jobs
