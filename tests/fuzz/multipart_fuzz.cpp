// The multipart parser on any bytes: it must end, hold little, and read the same however the bytes are cut into pieces.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "plugins/uploads/form.hpp"
#include "plugins/uploads/multipart.hpp"

using portico::uploads::multipart;

namespace {

// All that is read, as one text; the steps taken may not be more than what the bytes give reason for.
std::string read(std::string_view boundary, std::string_view body, std::size_t first, std::size_t piece) {
  multipart parser(boundary);
  std::string out;
  const std::size_t allowed = 4 * body.size() + 16;
  std::size_t steps = 0;
  for (std::size_t next = first;; next = piece) {
    const std::string fed(body.substr(0, next));
    body.remove_prefix(fed.size());
    parser.feed(fed);
    for (multipart::step s; (s = parser.next()) != multipart::step::more;) {
      if (++steps > allowed) std::abort();
      if (s == multipart::step::failed) return out + "!" + parser.error();
      if (s == multipart::step::part)
        out.append("\n[").append(parser.name()).append("|").append(parser.content_type()).append("]");
      else
        out.append(parser.data());
    }
    if (body.empty()) return out + (parser.done() ? "." : "?");
  }
}

}  // namespace

// The first byte chooses how the rest is cut, the second how long a boundary it has.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const auto cut = static_cast<unsigned char>(all[0]);
  const std::string boundary(1 + static_cast<unsigned char>(all[1]) % 70, 'b');
  const std::string_view body = all.substr(2);
  const std::string whole = read(boundary, body, body.size() + 1, 1);
  if (read(boundary, body, cut, 1 + cut % 7) != whole) std::abort();
  if (read(boundary, body, 1, 1) != whole) std::abort();
  if (whole.size() > 4 * body.size() + 256) std::abort();
  const char* why = nullptr;
  if (const auto found = portico::uploads::boundary_of(body, &why); found && (found->empty() || found->size() > 70))
    std::abort();
  return 0;
}
