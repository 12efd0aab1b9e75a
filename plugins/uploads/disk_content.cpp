#include "plugins/uploads/disk_content.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "plugins/comfy/errors.hpp"
#include "plugins/uploads/conditions.hpp"
#include "plugins/uploads/disk_file.hpp"
#include "plugins/uploads/on_pool.hpp"

namespace portico::uploads {
namespace {

constexpr std::uint64_t piece = 1024 * 1024;  // bytes sent at a time

bool is_as_it_was(const disk_file& file, const blob& bytes) {
  return file.size() == bytes.size && file.changed() == bytes.disk_changed;
}

// What the client gets to know of the version it receives.
struct version {
  std::string etag, last_modified;
};

version version_of(const blob& bytes) {
  return {"\"" + bytes.hash.substr(bytes.hash.find(':') + 1) + "\"", to_http_date(bytes.disk_changed)};
}

response head_for(int status, const asset& a, const version& v) {
  response head(status);
  if (status != 304) label(head, a.content_type, {}, base_name(a.file_path));
  head.header("etag", v.etag);
  head.header("last-modified", v.last_modified);
  head.header("accept-ranges", "bytes");
  return head;
}

std::string content_range(byte_span part, std::uint64_t size) {
  return "bytes " + std::to_string(part.offset) + "-" + std::to_string(part.offset + part.length - 1) + "/" +
         std::to_string(size);
}

task<> send(request& req, stream& out, const disk_file& file, byte_span part) {
  while (part.length > 0) {
    const std::uint64_t size = std::min(part.length, piece);
    auto from_disk = [&] { file.fetch(part.offset, size); };
    co_await on_pool(req, from_disk);
    co_await out.send_file(file.handle(), part.offset, size);
    part.offset += size;
    part.length -= size;
  }
}

}  // namespace

task<response> serve_from_disk(request& req, asset_ptr a) {
  const blob& bytes = *a->bytes;
  std::optional<disk_file> file;
  auto open = [&] {
    if (std::optional<disk_file> found = disk_file::open(bytes.disk_path)) file.emplace(std::move(*found));
  };
  co_await on_pool(req, open);
  if (!file || !is_as_it_was(*file, bytes)) {
    a->bytes->lost = true;
    throw http_error(404, comfy::code::output_unavailable,
                     "the file is no longer there: it was moved, deleted or replaced");
  }
  const version v = version_of(bytes);
  if (is_another_version(req.header("if-match"), req.header("if-unmodified-since"), v.etag, v.last_modified))
    throw another_version();
  if (has_it_already(req.header("if-none-match"), req.header("if-modified-since"), v.etag, v.last_modified))
    co_return head_for(304, *a, v);

  std::optional<byte_range> range = range_of(req);
  const std::string_view if_range = req.header("if-range");
  if (!if_range.empty() && !is_the_version(if_range, v.etag, v.last_modified)) range.reset();
  const byte_span part = range ? span_of(*range, bytes.size) : byte_span{0, bytes.size};
  if (range && part.length == 0)
    throw http_error(416, "range_not_satisfiable", "the file has no bytes in the range that was asked for")
        .header("content-range", "bytes */" + std::to_string(bytes.size));
  response head = head_for(range ? 206 : 200, *a, v);
  if (range) head.header("content-range", content_range(part, bytes.size));
  stream out(req, head, static_cast<int64_t>(part.length));
  if (req.method() != "HEAD") co_await send(req, out, *file, part);
  co_return out.end();
}

bool is_unchanged_on_disk(const blob& bytes) {
  const std::optional<disk_file> file = disk_file::open(bytes.disk_path);
  return file && is_as_it_was(*file, bytes);
}

}  // namespace portico::uploads
