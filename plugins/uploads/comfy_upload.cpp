#include "plugins/uploads/comfy_upload.hpp"

#include <algorithm>

#include "plugins/comfy/errors.hpp"
#include "plugins/comfy/json.hpp"
#include "plugins/uploads/header_text.hpp"
#include "plugins/uploads/hmac.hpp"

namespace portico::uploads {
namespace {

constexpr std::size_t longest_answer = 64 * 1024;

[[noreturn]] void fail(const std::string& why) { throw http_error(500, comfy::code::upstream_error, why); }

// A name inside quotes: only the quote needs an escape, as backslashes and line ends cannot occur in it.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '\\';
    out += c;
  }
  return out += '"';
}

struct form_text {
  std::string boundary, before, after;
};

form_text wrap(const file_ref& wanted, const std::string& content_type) {
  form_text form;
  form.boundary = "----portico" + random_uuid();
  const std::string line = "--" + form.boundary + "\r\nContent-Disposition: form-data; name=";
  form.before = line + "\"type\"\r\n\r\ninput\r\n";
  if (!wanted.subfolder.empty()) form.before += line + "\"subfolder\"\r\n\r\n" + wanted.subfolder + "\r\n";
  form.before += line + "\"image\"; filename=" + quoted(wanted.name) + "\r\nContent-Type: " + content_type + "\r\n\r\n";
  form.after = "\r\n--" + form.boundary + "--\r\n";
  return form;
}

// The words of an error answer: a JSON error's message, or a line of plain text; empty when it is neither, or long.
std::string words_of(std::string_view body) {
  const comfy::json::document document(body);
  const comfy::json::value root = document.root(), error = root["error"];
  std::string text = error.is_string() ? error.text() : error["message"].text();
  if (text.empty()) text = root["message"].text();
  if (text.empty() && !document.ok()) text = trimmed(body);
  const auto odd = [](char c) { return (c >= 0 && c < 0x20) || c == 0x7F || c == '<'; };
  if (text.size() > 300 || std::any_of(text.begin(), text.end(), odd)) text.clear();
  return text;
}

// Each word with a slash in it may be a path of the upstream's machine, which is nobody's business.
std::string without_paths(const std::string& text) {
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    out.append(word.find_first_of("/\\") == std::string_view::npos ? word : std::string_view("(path)"));
    rest.remove_prefix(word.size());
    if (!rest.empty()) rest.remove_prefix(1), out += ' ';
  }
  return out;
}

task<bool> send_body(context where, call& up, received_file& file, const form_text& form) {
  if (!co_await up.write(form.before)) co_return false;
  for (std::uint64_t offset = 0; offset < file.size();) {
    const std::string_view bytes = co_await file.read(where, offset);
    if (bytes.empty()) throw std::runtime_error("a spooled upload has become shorter");
    if (!co_await up.write(bytes)) co_return false;
    offset += bytes.size();
  }
  co_return co_await up.write(form.after);
}

task<std::string> answer_of(call& up) {
  std::string body;
  for (;;) {
    const std::string_view bytes = co_await up.read();
    if (bytes.empty()) co_return body;
    if (body.size() + bytes.size() > longest_answer) co_return std::string();
    body.append(bytes);
  }
}

}  // namespace

task<file_ref> send_to_upstream(context where, std::string_view upstream, received_file& file, file_ref wanted,
                                std::string content_type) {
  const form_text form = wrap(wanted, content_type);
  call_options options("POST", std::string(upstream) + "/upload/image");
  options.header("content-type", "multipart/form-data; boundary=" + form.boundary);
  options.body_length(static_cast<int64_t>(form.before.size() + file.size() + form.after.size()));
  int status = 0;
  std::string body;
  try {
    call up(where, options);
    co_await send_body(where, up, file, form);  // a refusal may come before all is sent; the answer tells
    status = (co_await up.head()).status;
    body = co_await answer_of(up);
  } catch (const error& e) {
    if (e.code() == PORTICO_E_CANCELLED) throw;
    fail(std::string("the file could not be given to the upstream: ") + e.what());
  }
  if (status != 200) fail(upload_refusal(status, body));
  file_ref stored = read_upload_answer(body);
  if (stored.name.empty()) fail("the upstream took the file, but its answer does not say under which name");
  co_return stored;
}

std::string upload_refusal(int status, std::string_view body) {
  std::string out = "the upstream refused the upload with status " + std::to_string(status);
  const std::string words = without_paths(words_of(body));
  return words.empty() ? out : out.append(": ").append(words);
}

file_ref read_upload_answer(std::string_view json) {
  const comfy::json::document document(json);
  const comfy::json::value root = document.root();
  file_ref stored{root["name"].text(), root["subfolder"].text(), root["type"].text()};
  if (stored.type.empty()) stored.type = "input";
  // A name is taken as it is or not at all: cut to its base name it would be another file.
  if (base_name(stored.name) != stored.name || !is_contained(stored)) stored.name.clear();
  return stored;
}

}  // namespace portico::uploads
