// tests/e2e/form.hpp - an upload's form as clients write it.
#pragma once
#include <string>

#include "http.hpp"

namespace e2e {

class form {
 public:
  explicit form(std::string boundary = "b") : boundary_(std::move(boundary)) {}
  form& field(const std::string& name, const std::string& value) {
    body_ += "--" + boundary_ + "\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n";
    return *this;
  }
  // more: further header lines, each with its line end.
  form& file(const std::string& bytes, const std::string& more = {}, const std::string& filename = "f") {
    body_ += "--" + boundary_ + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + filename + "\"\r\n" +
             more + "\r\n" + bytes + "\r\n";
    return *this;
  }
  std::string body() const { return body_ + "--" + boundary_ + "--\r\n"; }
  fields headers() const { return {{"Content-Type", "multipart/form-data; boundary=" + boundary_}}; }

 private:
  std::string boundary_, body_;
};

inline answer upload(std::uint16_t port, const form& f) { return post(port, "/api/v2/assets", f.body(), f.headers()); }
inline answer upload(std::uint16_t port, const std::string& bytes, const std::string& path,
                     const std::string& content_type = "image/png") {
  return upload(port, form().field("content_type", content_type).field("file_path", path).file(bytes));
}

// "422 invalid_request", or "201" when there is no error.
inline std::string outcome(const answer& a) {
  const std::string code = at(a.body, "error.code");
  return std::to_string(a.status) + (code.empty() || code[0] == '<' ? "" : " " + code);
}

}  // namespace e2e
