// plugins/comfyui_standin/json.hpp - a JSON value that keeps the order of keys and the spelling of numbers.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace standin {

// A plain value: copy it freely, use it from one thread at a time.
class json {
 public:
  enum class kind { null, boolean, number, text, array, object };
  using member = std::pair<std::string, json>;

  json() = default;
  static json boolean(bool b) { return json(kind::boolean, b ? "true" : "false"); }
  static json number(std::string literal) { return json(kind::number, std::move(literal)); }
  static json integer(std::int64_t n) { return number(std::to_string(n)); }
  static json text(std::string s) { return json(kind::text, std::move(s)); }
  static json array() { return json(kind::array, {}); }
  static json object() { return json(kind::object, {}); }

  // The value of a JSON text, or nothing: it is not JSON (in UTF-8), or nested deeper than max_depth.
  static std::optional<json> parse(std::string_view text, std::size_t max_depth = 400);

  kind type() const noexcept { return kind_; }
  bool is_null() const noexcept { return kind_ == kind::null; }
  bool is_text() const noexcept { return kind_ == kind::text; }
  bool is_number() const noexcept { return kind_ == kind::number; }
  bool is_array() const noexcept { return kind_ == kind::array; }
  bool is_object() const noexcept { return kind_ == kind::object; }
  // What Python would take for true.
  bool truthy() const noexcept;

  // The text, the digits of a number, or "true" and "false"; empty for the others.
  const std::string& str() const noexcept { return text_; }
  // The number, cut to the range of the type; fallback when this is no number.
  std::int64_t as_integer(std::int64_t fallback = 0) const noexcept;
  std::uint64_t as_unsigned(std::uint64_t fallback = 0) const noexcept;
  double as_real(double fallback = 0) const noexcept;

  // Of an object: nullptr when there is no such key.  With a repeated key the last counts.
  const json* find(std::string_view key) const noexcept;
  // Of an object: replaces the value of the key, or appends it.
  json& set(std::string key, json value);
  const std::vector<member>& members() const noexcept { return members_; }

  // Of an array.
  json& push(json value) { return items_.emplace_back(std::move(value)); }
  const std::vector<json>& items() const noexcept { return items_; }

  // As JSON text without blanks.
  std::string print() const;
  void print_to(std::string& out) const;

 private:
  json(kind k, std::string s) : kind_(k), text_(std::move(s)) {}
  kind kind_ = kind::null;
  std::string text_;
  std::vector<json> items_;
  std::vector<member> members_;
};

}  // namespace standin
