#include "core/config/token_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "core/base/text.hpp"

namespace portico::config {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest = 4096;

// One byte more than a token may have, so that a longer file is seen as such.
std::string beginning_of(const std::string& path, int* problem) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  std::string text(longest + 1, '\0');
  if (file) text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  *problem = !file || std::ferror(file.get()) ? errno : 0;
  return text;
}

}  // namespace

token_from_file read_token_file(const std::string& path) {
  token_from_file out;
  int problem = 0;
  const std::string text = beginning_of(path, &problem);
  if (problem != 0) {
    out.error = "cannot read " + path + ": " + std::generic_category().message(problem) +
                "; the user this server runs as needs the right to read it";
    return out;
  }
  const std::string_view token = base::trim(std::string_view(text).substr(0, text.find_last_not_of("\r\n") + 1));
  if (text.size() > longest)
    out.error = path + " is longer than a token can be; allowed: one line of at most 4096 bytes";
  else if (token.empty())
    out.error = path + " is empty; write the token into it, or leave the key out to serve without one";
  else if (std::any_of(token.begin(), token.end(), base::is_control))
    out.error = path + " holds more than one line, or a control character, which no client can send";
  else
    out.token = token;
  std::error_code ignored;
  if ((fs::status(path, ignored).permissions() & fs::perms::others_read) != fs::perms::none && !ignored)
    out.warning = path + " can be read by everybody on this machine; chmod o-r it";
  return out;
}

}  // namespace portico::config
