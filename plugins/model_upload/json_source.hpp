// plugins/model_upload/json_source.hpp - a strict JSON text read once from front to back, a piece in memory at a time.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/model_upload/safetensors.hpp"

namespace portico::model_upload {

// The text breaks a rule of JSON, or of who reads it.
class json_fault : public std::runtime_error {
 public:
  json_fault(std::string rule, const std::string& what) : std::runtime_error(what), rule_(std::move(rule)) {}
  const std::string& rule() const noexcept { return rule_; }

 private:
  std::string rule_;
};

// White space is skipped before each token.  All members throw json_fault, its text naming the byte; what the reader
// throws is passed on.
class json_source {
 public:
  static constexpr std::size_t max_depth = 127;  // levels; the format's own reader stops there too

  // The text is `length` bytes from `offset` on.
  json_source(const file_reader& read, std::uint64_t offset, std::uint64_t length);

  // The next character that is no white space, without taking it; 0 at the end of the text.
  char ahead();
  void expect(char);
  // Takes the character if it comes next.
  bool take(char);
  void end();  // nothing may follow but white space

  // A string.  At most max bytes of it are kept; *hash, if given, is of all of it.
  std::string string(std::size_t max, std::uint64_t* hash = nullptr);
  // A whole number that fits; "-0", fractions and exponents do not.
  std::uint64_t number();
  void literal(std::string_view);
  // Any value, and all inside it.
  void skip();

  // Of the next byte, in the text.
  std::uint64_t position() const noexcept { return offset_ + at_ - start_; }
  [[noreturn]] void fail(const std::string& what) const;

 private:
  int peek();
  int get();
  void fill();
  void skip_number();
  void digits();
  unsigned hex4();
  void sequence(unsigned char first, std::string& out, std::size_t max, std::uint64_t& hash);
  void keep(unsigned char c, std::string& out, std::size_t max, std::uint64_t& hash);
  void escape(std::string& out, std::size_t max, std::uint64_t& hash);

  const file_reader& read_;
  std::uint64_t start_, offset_, end_;  // in the file: of the text, of the buffer, behind the text
  std::vector<char> buffer_;
  std::size_t at_ = 0, filled_ = 0;
};

}  // namespace portico::model_upload
