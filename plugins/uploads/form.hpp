// plugins/uploads/form.hpp - the form of an upload: its fields, and the bytes of its file as they arrive.
//
//   upload_form form(content_type, largest_file);
//   form.feed(bytes);
//   for (auto piece = form.next(); !piece.empty(); piece = form.next()) ...   // bytes of the file
//   form.finish();                                                           // at the end of the body
//
// Fields may come in any order, before the file and after it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/uploads/multipart.hpp"

namespace portico::uploads {

class upload_form {
 public:
  static constexpr std::size_t max_field = 64 * 1024;  // bytes of one field other than the file

  // largest_file: in bytes.  http_error 422: the content type is not that of a form.
  upload_form(std::string_view content_type, std::uint64_t largest_file);

  // The bytes are borrowed until next() has returned an empty view.
  void feed(std::string_view bytes) noexcept { parser_.feed(bytes); }
  // The next bytes of the file; empty: all that was fed is used up.  http_error 422: the form is malformed, a field is
  // too long or was given twice; 413: the file is larger than largest_file.
  std::string_view next();
  // http_error 422: the body ended before the form did, or there was no file.
  void finish() const;

  // As they were sent; nothing: the field was not there.
  const std::optional<std::string>& file_path() const noexcept { return file_path_; }
  const std::optional<std::string>& content_type() const noexcept { return content_type_; }
  const std::optional<std::string>& expected_hash() const noexcept { return expected_hash_; }
  const std::optional<std::string>& expires_in() const noexcept { return expires_in_; }
  const std::vector<std::string>& tags() const noexcept { return tags_; }
  const std::string& file_content_type() const noexcept { return part_type_; }  // of the file's own part; may be empty

 private:
  void begin_part();
  void end_field();
  std::optional<std::string>* field(std::string_view name) noexcept;

  static std::string checked_boundary(std::string_view content_type);

  multipart parser_;
  std::uint64_t largest_file_, file_size_ = 0;
  enum class where { outside, file, field, ignored } in_ = where::outside;
  std::optional<std::string>* target_ = nullptr;  // where the field being read goes; nullptr: a tag
  std::string text_;                              // of the field being read
  bool file_seen_ = false;
  std::optional<std::string> file_path_, content_type_, expected_hash_, expires_in_;
  std::vector<std::string> tags_;
  std::string part_type_;
};

}  // namespace portico::uploads
