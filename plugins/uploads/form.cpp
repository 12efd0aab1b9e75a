#include "plugins/uploads/form.hpp"

#include <portico/response.hpp>

#include "plugins/comfy/errors.hpp"
#include "plugins/uploads/request_text.hpp"

namespace portico::uploads {

std::string upload_form::checked_boundary(std::string_view content_type) {
  const char* why = nullptr;
  std::optional<std::string> boundary = boundary_of(content_type, &why);
  if (!boundary) refuse(std::string("the body must be a form: ") + why);
  return std::move(*boundary);
}

upload_form::upload_form(std::string_view content_type, std::uint64_t largest_file)
    : parser_(checked_boundary(content_type)), largest_file_(largest_file) {}

std::string_view upload_form::next() {
  for (;;) {
    switch (parser_.next()) {
      case multipart::step::more:
        if (parser_.done()) end_field();
        return {};
      case multipart::step::failed:
        refuse(std::string("the form is malformed: ") + parser_.error());
      case multipart::step::part:
        end_field();
        begin_part();
        break;
      case multipart::step::data: {
        const std::string_view bytes = parser_.data();
        if (in_ == where::file) {
          if (bytes.size() > largest_file_ - file_size_)
            throw http_error(
                413, comfy::code::payload_too_large,
                "the file is larger than the " + std::to_string(largest_file_) + " bytes that are allowed");
          file_size_ += bytes.size();
          return bytes;
        }
        if (bytes.size() > max_field - text_.size()) refuse("a field of the form is longer than 64 KiB");
        text_.append(bytes);
      }
    }
  }
}

void upload_form::begin_part() {
  text_.clear();
  in_ = where::field;
  target_ = field(parser_.name());
  if (target_) {
    if (*target_) refuse("the form has two fields named " + parser_.name());
  } else if (parser_.name() == "file") {
    if (file_seen_) refuse("the form has two fields named file");
    file_seen_ = true;
    part_type_ = parser_.content_type();
    in_ = where::file;
  } else if (parser_.name() != "tags") {
    in_ = where::ignored;
  }
}

void upload_form::end_field() {
  if (in_ == where::field) {
    if (target_)
      *target_ = std::move(text_);
    else
      tags_.push_back(std::move(text_));
  }
  text_.clear();
  in_ = where::outside;
}

std::optional<std::string>* upload_form::field(std::string_view name) noexcept {
  if (name == "file_path") return &file_path_;
  if (name == "content_type") return &content_type_;
  if (name == "expected_hash") return &expected_hash_;
  if (name == "expires_in") return &expires_in_;
  return nullptr;
}

void upload_form::finish() const {
  if (!parser_.done()) refuse("the form is incomplete: the body ends before its closing boundary");
  if (!file_seen_) refuse("the form has no field named file");
}

}  // namespace portico::uploads
