// plugins/uploads/header_text.hpp - taking a header's value apart: `value; name=token; name="quoted \" text"`.
#pragma once
#include <string>
#include <string_view>

namespace portico::uploads {

// ASCII case.
bool same_ignoring_case(std::string_view a, std::string_view b) noexcept;

// Without blanks, tabs and line ends around it.
std::string_view trimmed(std::string_view) noexcept;

// Walks over the parameters.  The text is borrowed.
class header_parameters {
 public:
  explicit header_parameters(std::string_view header) noexcept;
  std::string_view value() const noexcept { return value_; }  // what comes before the first parameter

  // The next parameter; false at the end, or when the rest cannot be read: then broken() is true.
  bool next();
  bool broken() const noexcept { return broken_; }
  std::string_view name() const noexcept { return name_; }
  const std::string& text() const noexcept { return text_; }  // without quotes and their escapes

 private:
  bool quoted();
  std::string_view value_, rest_, name_;
  std::string text_;
  bool broken_ = false;
};

}  // namespace portico::uploads
