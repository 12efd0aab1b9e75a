#include "plugins/comfyui_standin/json.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include <portico/response.hpp>

#include "plugins/comfy/json.hpp"

namespace standin {
namespace {

namespace text = comfy::json;

// Recursion is safe here: the document has bounded the depth.
json copy_of(const text::value& v) {
  switch (v.type()) {
    case text::kind::boolean:
      return json::boolean(v.truth());
    case text::kind::number:
      return json::number(std::string(v.raw()));  // as text, so that a 64-bit seed keeps every digit
    case text::kind::string:
      return json::text(v.text());
    case text::kind::array: {
      json out = json::array();
      for (const text::value item : v.elements()) out.push(copy_of(item));
      return out;
    }
    case text::kind::object: {
      json out = json::object();
      for (const text::member m : v.members()) out.set(m.key.text(), copy_of(m.content));
      return out;
    }
    default:
      return json();
  }
}

}  // namespace

std::optional<json> json::parse(std::string_view source, std::size_t max_depth) {
  text::limits bounds;
  bounds.depth = max_depth;
  const text::document read(source, bounds);
  if (!read.ok()) return std::nullopt;
  return copy_of(read.root());
}

bool json::truthy() const noexcept {
  switch (kind_) {
    case kind::null:
      return false;
    case kind::boolean:
      return text_ == "true";
    case kind::number:
      return as_real() != 0;
    case kind::text:
      return !text_.empty();
    case kind::array:
      return !items_.empty();
    case kind::object:
      return !members_.empty();
  }
  return false;
}

double json::as_real(double fallback) const noexcept {
  return is_number() ? std::strtod(text_.c_str(), nullptr) : fallback;
}

std::int64_t json::as_integer(std::int64_t fallback) const noexcept {
  if (!is_number()) return fallback;
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), n);
  if (error == std::errc() && end == text_.data() + text_.size()) return n;
  const double real = as_real();
  if (std::isnan(real)) return fallback;
  if (real >= 9.2e18) return INT64_MAX;
  if (real <= -9.2e18) return INT64_MIN;
  return static_cast<std::int64_t>(real);
}

std::uint64_t json::as_unsigned(std::uint64_t fallback) const noexcept {
  if (!is_number()) return fallback;
  std::uint64_t n = 0;
  const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), n);
  if (error == std::errc() && end == text_.data() + text_.size()) return n;
  return static_cast<std::uint64_t>(as_integer());
}

const json* json::find(std::string_view key) const noexcept {
  for (const member& m : members_)
    if (m.first == key) return &m.second;
  return nullptr;
}

json& json::set(std::string key, json value) {
  for (member& m : members_)
    if (m.first == key) return m.second = std::move(value);
  return members_.emplace_back(std::move(key), std::move(value)).second;
}

void json::print_to(std::string& out) const {
  switch (kind_) {
    case kind::null:
      out += "null";
      break;
    case kind::boolean:
    case kind::number:
      out += text_;
      break;
    case kind::text:
      portico::append_json_string(out, text_);
      break;
    case kind::array: {
      out += '[';
      for (std::size_t i = 0; i < items_.size(); ++i) {
        if (i) out += ',';
        items_[i].print_to(out);
      }
      out += ']';
      break;
    }
    case kind::object: {
      out += '{';
      for (std::size_t i = 0; i < members_.size(); ++i) {
        if (i) out += ',';
        portico::append_json_string(out, members_[i].first);
        out += ':';
        members_[i].second.print_to(out);
      }
      out += '}';
      break;
    }
  }
}

std::string json::print() const {
  std::string out;
  print_to(out);
  return out;
}

}  // namespace standin
