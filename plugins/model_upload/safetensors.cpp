#include "plugins/model_upload/safetensors.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "plugins/model_upload/dtypes.hpp"
#include "plugins/model_upload/json_source.hpp"

namespace portico::model_upload {
namespace {

constexpr std::size_t longest_shown_name = 200;  // bytes

struct tensor {
  std::uint64_t begin, end;
  std::uint64_t name_at;  // where its name begins in the header, for a message
  std::uint64_t name_hash;
};

class fault : public std::exception {
 public:
  explicit fault(problem p) : problem_(std::move(p)) {}
  const problem& what_was_wrong() const noexcept { return problem_; }

 private:
  problem problem_;
};

[[noreturn]] void fail(const char* rule, const std::string& message) { throw fault({rule, message, {}}); }
[[noreturn]] void fail(const char* rule, const std::string& name, const std::string& message) {
  throw fault({rule, "not a good safetensors file: " + name + ": " + message, name});
}

std::string number(std::uint64_t n) { return std::to_string(n); }

// Names what people upload by mistake, from the file's first bytes.
const char* lookalike(std::string_view first) {
  const auto begins = [&](std::string_view word) {
    return first.size() >= word.size() && std::equal(word.begin(), word.end(), first.begin(), [](char a, char b) {
             return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b + 32) : b);
           });
  };
  if (begins("version https://git-lfs")) return "a Git LFS pointer: the name of a file, not the file itself";
  if (begins("gguf")) return "a GGUF file";
  if (begins("pk\x03\x04") || begins("\x80\x02\x8a\x0al")) return "a pickled checkpoint (.ckpt, .pt)";
  while (!first.empty() &&
         (first.front() == ' ' || first.front() == '\n' || first.front() == '\r' || first.front() == '\t'))
    first.remove_prefix(1);
  if (begins("<!doctype") || begins("<html") || begins("<?xml") || begins("<head"))
    return "an HTML page, perhaps a login or error page";
  return nullptr;
}

using beginning = std::array<char, 64>;

std::string_view read_beginning(const file_reader& read, beginning& into) {
  std::size_t have = 0;
  while (have < into.size()) {
    const std::size_t n = read(have, into.data() + have, into.size() - have);
    if (n == 0) break;
    have += n;
  }
  return {into.data(), have};
}

// The header's length, checked before anything is made of it.
std::uint64_t header_length(std::string_view first, std::uint64_t file_size) {
  if (file_size < 8 || first.size() < 8)
    fail("too_short", "not a safetensors file: it has " + number(file_size) +
                          " bytes, and 8 are needed for the header's length alone");
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8 | static_cast<unsigned char>(first[i]);
  if (length == 0) fail("header_empty", "not a good safetensors file: its header is empty");
  if (length > largest_header)
    fail("header_too_large", "not a good safetensors file: header too large, " + number(length) +
                                 " bytes where at most 100000000 are allowed");
  if (length > file_size - 8)
    fail("incomplete", "not a good safetensors file: file ends at " + number(file_size) + ", header promises " +
                           number(length + 8) + " (incomplete download?)");
  return length;
}

// What one tensor says of itself, while it is read.
struct entry {
  std::string dtype;
  std::uint64_t bits = 0, begin = 0, end = 0, elements = 1;
  std::string shape;  // as written in messages
  bool has_dtype = false, has_shape = false, has_offsets = false;
};

void once(bool& seen, const std::string& name, const std::string& key) {
  if (seen) fail("duplicate_key", name, key + " stands twice");
  seen = true;
}

void read_dtype(json_source& json, const std::string& name, entry& e) {
  once(e.has_dtype, name, "dtype");
  if (json.ahead() != '"') fail("dtype", name, "dtype is not a string");
  e.dtype = json.string(longest_shown_name);
  const auto bits = bits_of(e.dtype);
  if (!bits) fail("dtype", name, "unknown dtype \"" + e.dtype + "\"");
  e.bits = *bits;
}

void read_shape(json_source& json, const std::string& name, entry& e) {
  once(e.has_shape, name, "shape");
  if (json.ahead() != '[') fail("shape", name, "shape is not an array");
  json.expect('[');
  e.shape = "[";
  if (!json.take(']')) {
    do {
      const std::uint64_t n = json.number();
      if (n != 0 && e.elements > UINT64_MAX / n)
        fail("overflow", name, "its shape has more elements than can be counted");
      e.elements *= n;
      if (e.shape.size() < longest_shown_name) e.shape.append(e.shape.size() > 1 ? ", " : "").append(number(n));
    } while (json.take(','));
    json.expect(']');
  }
  e.shape += ']';
}

void read_offsets(json_source& json, const std::string& name, entry& e) {
  once(e.has_offsets, name, "data_offsets");
  if (json.ahead() != '[') fail("data_offsets", name, "data_offsets is not an array");
  json.expect('[');
  e.begin = json.number();
  if (!json.take(',')) fail("data_offsets", name, "data_offsets must hold two numbers");
  e.end = json.number();
  if (!json.take(']')) fail("data_offsets", name, "data_offsets must hold two numbers");
}

void check_size(const std::string& name, const entry& e) {
  if (!e.has_dtype) fail("dtype", name, "dtype is missing");
  if (!e.has_shape) fail("shape", name, "shape is missing");
  if (!e.has_offsets) fail("data_offsets", name, "data_offsets are missing");
  if (e.end < e.begin)
    fail("data_offsets", name, "data_offsets end at " + number(e.end) + ", before they begin at " + number(e.begin));
  if (e.elements > UINT64_MAX / e.bits) fail("overflow", name, "its shape has more bits than can be counted");
  const std::uint64_t bits = e.elements * e.bits;
  if (bits % 8 != 0) fail("alignment", name, e.dtype + " " + e.shape + " does not fill whole bytes");
  if (bits / 8 != e.end - e.begin)
    fail("size", name,
         e.dtype + " " + e.shape + " takes " + number(bits / 8) + " bytes, its data_offsets span " +
             number(e.end - e.begin));
}

void read_members(json_source& json, const std::string& name, entry& e) {
  json.expect('{');
  if (!json.take('}')) {
    do {
      const std::string key = json.string(longest_shown_name);
      json.expect(':');
      if (key == "dtype")
        read_dtype(json, name, e);
      else if (key == "shape")
        read_shape(json, name, e);
      else if (key == "data_offsets")
        read_offsets(json, name, e);
      else
        json.skip();
    } while (json.take(','));
    json.expect('}');
  }
}

void read_tensor(json_source& json, const std::string& name, tensor& out) {
  if (json.ahead() != '{') fail("tensor", name, "is not an object");
  entry e;
  try {
    read_members(json, name, e);
  } catch (const json_fault& f) {
    fail(f.rule().c_str(), name, f.what());
  }
  check_size(name, e);
  out.begin = e.begin;
  out.end = e.end;
}

// null, or an object of strings.
void read_metadata(json_source& json) {
  if (json.ahead() == 'n') return json.literal("null");
  if (json.ahead() != '{') fail("metadata", "not a good safetensors file: __metadata__ is not an object");
  json.expect('{');
  if (json.take('}')) return;
  do {
    json.string(0);
    json.expect(':');
    if (json.ahead() != '"')
      fail("metadata", "not a good safetensors file: __metadata__ holds something that is not a string");
    json.string(0);
  } while (json.take(','));
  json.expect('}');
}

std::vector<tensor> read_object(json_source& json) {
  std::vector<tensor> tensors;
  bool has_metadata = false;
  json.expect('{');
  if (!json.take('}')) {
    do {
      tensor t{};
      json.ahead();
      t.name_at = json.position();
      const std::string name = json.string(longest_shown_name, &t.name_hash);
      json.expect(':');
      if (name == "__metadata__") {
        once(has_metadata, name, "the key");
        read_metadata(json);
      } else {
        read_tensor(json, name, t);
        tensors.push_back(t);
      }
    } while (json.take(','));
    json.expect('}');
  }
  json.end();
  return tensors;
}

std::vector<tensor> read_header(json_source& json) {
  try {
    return read_object(json);
  } catch (const json_fault& f) {
    fail(f.rule().c_str(), std::string("not a good safetensors file: ") + f.what());
  }
}

// Names are told apart by hash: equal ones never pass, and that two others meet would take 2^32 tensors.
void check_names(std::vector<tensor>& tensors, const auto& name_of) {
  std::sort(tensors.begin(), tensors.end(), [](const tensor& a, const tensor& b) { return a.name_hash < b.name_hash; });
  const auto twice = std::adjacent_find(tensors.begin(), tensors.end(),
                                        [](const tensor& a, const tensor& b) { return a.name_hash == b.name_hash; });
  if (twice != tensors.end()) fail("duplicate_key", name_of(*twice), "the name stands twice");
}

void check_order(std::vector<tensor>& tensors, std::uint64_t data_size, std::uint64_t data_at, const auto& name_of) {
  std::sort(tensors.begin(), tensors.end(),
            [](const tensor& a, const tensor& b) { return a.begin != b.begin ? a.begin < b.begin : a.end < b.end; });
  std::uint64_t end = 0;
  for (const tensor& t : tensors) {
    if (t.begin > end)
      fail("gap", name_of(t), "begins at " + number(t.begin) + ", but what comes before ends at " + number(end));
    if (t.begin < end)
      fail("overlap", name_of(t), "begins at " + number(t.begin) + ", inside another that ends at " + number(end));
    end = t.end;
  }
  if (end > data_size)
    fail("incomplete",
         "not a good safetensors file: file ends at " + number(data_at + data_size) + ", header promises " +
             (end > UINT64_MAX - data_at ? std::string("more than 64 bits can count") : number(data_at + end)) +
             " (incomplete download?)");
  if (end < data_size)
    fail("trailing_bytes", "not a good safetensors file: " + number(data_size - end) + " bytes follow the last tensor");
}

}  // namespace

std::optional<problem> check_safetensors(const file_reader& read, std::uint64_t file_size) {
  beginning memory{};
  const std::string_view first = read_beginning(read, memory);
  try {
    const std::uint64_t length = header_length(first, file_size);
    std::vector<tensor> tensors;
    {
      json_source json(read, 8, length);
      tensors = read_header(json);
    }
    const auto name_of = [&](const tensor& t) {
      return json_source(read, 8 + t.name_at, length - t.name_at).string(longest_shown_name);
    };
    check_names(tensors, name_of);
    check_order(tensors, file_size - 8 - length, 8 + length, name_of);
    return std::nullopt;
  } catch (const fault& f) {
    // Only now: a header's length may look like anything.
    if (const char* what = lookalike(first))
      return problem{"not_safetensors", std::string("not a safetensors file: it looks like ") + what, {}};
    return f.what_was_wrong();
  }
}

}  // namespace portico::model_upload
