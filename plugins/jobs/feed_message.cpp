#include "plugins/jobs/feed_message.hpp"

#include <cstddef>
#include <portico/response.hpp>

namespace jobs {
namespace {

namespace json = comfy::json;

std::uint32_t big_endian(std::string_view s, std::size_t at) noexcept {
  std::uint32_t n = 0;
  for (std::size_t i = 0; i < 4; ++i) n = n << 8 | static_cast<unsigned char>(s[at + i]);
  return n;
}

std::string label(const json::value& v) { return v.type() == json::kind::number ? std::string(v.raw()) : v.text(); }

bool is_image_type(std::string_view s) noexcept {
  if (!s.starts_with("image/") || s.size() == 6 || s.size() > 64) return false;
  for (const char c : s.substr(6))
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.')) return false;
  return true;
}

// Type 4: the length of its description, the description, the image.
std::optional<preview> described(std::string_view frame) {
  const std::size_t length = big_endian(frame, 4);
  if (length > frame.size() - 8) return std::nullopt;
  const json::document d(frame.substr(8, length), {}, json::dialect::tolerant);
  preview p{d.root()["prompt_id"].text(), label(d.root()["node_id"]), d.root()["image_type"].text(),
            frame.substr(8 + length)};
  if (!is_image_type(p.content_type)) p.content_type = "image/jpeg";
  return p;
}

void append_base64(std::string& out, std::string_view bytes) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])); };
  std::size_t i = 0;
  for (; i + 2 < bytes.size(); i += 3) {
    const std::uint32_t n = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    const char four[] = {digits[n >> 18], digits[n >> 12 & 63], digits[n >> 6 & 63], digits[n & 63]};
    out.append(four, 4);
  }
  const std::size_t left = bytes.size() - i;
  if (left == 0) return;
  const std::uint32_t n = byte(i) << 16 | (left == 2 ? byte(i + 1) << 8 : 0);
  const char four[] = {digits[n >> 18], digits[n >> 12 & 63], left == 2 ? digits[n >> 6 & 63] : '=', '='};
  out.append(four, 4);
}

}  // namespace

std::string native_message::node() const { return label(data["node"]); }

std::int64_t native_message::timestamp_us() const {
  const std::optional<double> ms = data["timestamp"].number();
  return ms && *ms > 0 && *ms < 2e14 ? static_cast<std::int64_t>(*ms * 1000.0) : 0;
}

native_message read_native(const json::document& d) {
  struct entry {
    std::string_view name;
    native kind;
  };
  static constexpr entry table[] = {{"status", native::status},
                                    {"execution_start", native::execution_start},
                                    {"execution_cached", native::execution_cached},
                                    {"executing", native::executing},
                                    {"executed", native::executed},
                                    {"progress", native::progress},
                                    {"progress_state", native::progress_state},
                                    {"execution_success", native::execution_success},
                                    {"execution_error", native::execution_error},
                                    {"execution_interrupted", native::execution_interrupted}};
  native_message m;
  const json::value type = d.root()["type"];
  for (const entry& e : table)
    if (type.equals(e.name)) m.kind = e.kind;
  m.data = d.root()["data"];
  m.prompt_id = m.data["prompt_id"].text();
  return m;
}

std::optional<preview> read_preview(std::string_view frame) {
  if (frame.size() < 8) return std::nullopt;
  const std::uint32_t type = big_endian(frame, 0);
  if (type == 4) return described(frame);
  if (type != 1) return std::nullopt;
  return preview{"", "", big_endian(frame, 4) == 2 ? "image/png" : "image/jpeg", frame.substr(8)};
}

std::string preview_event(std::string_view node_id, std::string_view content_type, std::string_view image) {
  std::string out;
  out.reserve(image.size() / 3 * 4 + 128);
  portico::append_json_string(out.append("{\"node_id\":"), node_id);
  portico::append_json_string(out.append(",\"content_type\":"), content_type);
  append_base64(out.append(",\"data_base64\":\""), image);
  return out += "\"}";
}

}  // namespace jobs
