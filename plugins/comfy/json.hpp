// plugins/comfy/json.hpp - strict JSON read as views into its own text.
//
// Nothing is converted: each value remembers where its text stands, so a number or a graph is passed on byte for byte
// as it was written.  A document may be read on any thread, by many at once; parsing is iterative and its memory is
// bounded.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/comfy/json_text.hpp"

namespace comfy::json {

enum class kind : std::uint8_t { absent, null, boolean, number, string, array, object };

// What a text may cost: 16 bytes of memory for each value.
struct limits {
  std::size_t depth = 512;         // arrays and objects inside each other
  std::size_t values = 4'000'000;  // keys count too
};

// strict: RFC 8259, UTF-8, no half of a surrogate pair.  tolerant: also what Python programs write: NaN, Infinity and
// -Infinity are numbers without a value, and text that is no Unicode reads as U+FFFD.
enum class dialect { strict, tolerant };

class document;
class member_range;
class element_range;

// A view into a document, cheap to copy, valid as long as the document.  Asking a value of another kind, or one that is
// absent, is allowed everywhere and finds nothing.
class value {
 public:
  value() = default;

  kind type() const noexcept;
  explicit operator bool() const noexcept { return document_ != nullptr; }  // present, null included
  bool is_null() const noexcept { return type() == kind::null; }
  bool is_absent_or_null() const noexcept { return !document_ || is_null(); }
  bool is_string() const noexcept { return type() == kind::string; }
  bool is_array() const noexcept { return type() == kind::array; }
  bool is_object() const noexcept { return type() == kind::object; }

  std::string_view raw() const noexcept;                 // as it stands in the text, quotes included
  std::size_t offset() const noexcept;                   // of raw() in the text
  std::string text() const;                              // a string's characters as UTF-8, else empty
  bool equals(std::string_view characters) const;        // a string with exactly these characters
  bool truth() const noexcept;                           // the boolean true
  std::optional<std::int64_t> integer() const noexcept;  // a number written without fraction and exponent that fits
  std::optional<double> number() const noexcept;         // any number that fits; never infinite

  std::size_t size() const noexcept;             // elements, or members; walks over them
  value operator[](std::string_view key) const;  // a member; of members with one name the last, as Python reads it
  value at(std::size_t index) const noexcept;    // an element; walks to it
  element_range elements() const noexcept;
  member_range members() const noexcept;  // in order of appearance, repeated names included

 private:
  friend class document;
  friend class element_range;
  friend class member_range;
  value(const document* d, std::uint32_t index) noexcept : document_(d), index_(index) {}
  const document* document_ = nullptr;
  std::uint32_t index_ = 0;
};

// The outcome of parsing a text.  Not movable or copyable, because values point to it.
class document {
 public:
  // The text is borrowed: it must outlive the document.
  explicit document(std::string_view text, limits bounds = limits{}, dialect = dialect::strict);
  document(const document&) = delete;
  document& operator=(const document&) = delete;

  bool ok() const noexcept { return error_ == nullptr; }
  std::string_view error() const noexcept { return error_ ? error_ : ""; }  // what was wrong, for people; empty when ok
  std::size_t error_offset() const noexcept { return at_; }                 // in bytes
  value root() const noexcept { return ok() ? value(this, 0) : value(); }

 private:
  friend class value;
  friend class element_range;
  friend class member_range;
  friend class scanner;
  struct node {
    std::uint32_t begin, end;
    std::uint32_t next : 31;  // the node after this one and all inside it
    std::uint32_t coded : 1;  // a string whose characters are not simply its bytes
    kind type;
  };
  std::string_view text_;
  std::vector<node> nodes_;
  const char* error_ = nullptr;
  std::size_t at_ = 0;
};

struct member {
  value key, content;
};

class element_range {
 public:
  class iterator {
   public:
    iterator(const document* d, std::uint32_t i) noexcept : document_(d), index_(i) {}
    value operator*() const noexcept { return value(document_, index_); }
    iterator& operator++() noexcept { return index_ = document_->nodes_[index_].next, *this; }
    bool operator!=(const iterator& o) const noexcept { return index_ != o.index_; }

   private:
    const document* document_;
    std::uint32_t index_;
  };
  element_range(const document* d, std::uint32_t first, std::uint32_t last) noexcept
      : document_(d), first_(first), last_(last) {}
  iterator begin() const noexcept { return iterator(document_, first_); }
  iterator end() const noexcept { return iterator(document_, last_); }

 private:
  const document* document_;
  std::uint32_t first_, last_;
};

class member_range {
 public:
  class iterator {
   public:
    iterator(const document* d, std::uint32_t i) noexcept : document_(d), index_(i) {}
    member operator*() const noexcept { return member{value(document_, index_), value(document_, index_ + 1)}; }
    iterator& operator++() noexcept { return index_ = document_->nodes_[index_ + 1].next, *this; }
    bool operator!=(const iterator& o) const noexcept { return index_ != o.index_; }

   private:
    const document* document_;
    std::uint32_t index_;
  };
  member_range(const document* d, std::uint32_t first, std::uint32_t last) noexcept
      : document_(d), first_(first), last_(last) {}
  iterator begin() const noexcept { return iterator(document_, first_); }
  iterator end() const noexcept { return iterator(document_, last_); }

 private:
  const document* document_;
  std::uint32_t first_, last_;
};

// Appends the value as strict JSON, whatever dialect it was read in; a number without a value becomes null.
void append(std::string& out, const value&);

}  // namespace comfy::json
