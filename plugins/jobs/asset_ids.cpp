#include "plugins/jobs/asset_ids.hpp"

#include <array>
#include <portico/response.hpp>

#include "plugins/comfy/errors.hpp"

namespace jobs {
namespace {

using portico::to_abi;

portico::http_error missing(const std::vector<std::string>& names) {
  std::string details = "{\"missing_ids\":[";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i) details += ',';
    portico::append_json_string(details, names[i]);
  }
  return portico::http_error(422, comfy::code::missing_asset, "the workflow refers to assets that do not exist",
                             details.append("]}"));
}

std::string hexadecimal(const keyed_hash::result& hash) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint64_t word : hash)
    for (int shift = 60; shift >= 0; shift -= 4) text += digits[word >> shift & 15];
  return text;
}

}  // namespace

std::string asset_ids::mint(std::string_view job_id, const output& o) const {
  if (!service_) {
    std::string whole(job_id);
    for (const std::string* part : {&o.filename, &o.subfolder, &o.folder}) whole.append(1, '\0').append(*part);
    return hexadecimal(hash_(whole));
  }
  const comfy_output_ref ref = {to_abi(job_id), to_abi(o.filename), to_abi(o.subfolder), to_abi(o.folder)};
  std::string id(512, '\0');
  std::size_t size = 0;
  int32_t rc = service_.table().mint(service_.self(), &ref, id.data(), id.size(), &size);
  if (rc == PORTICO_E_LIMIT) {
    id.resize(size);
    rc = service_.table().mint(service_.self(), &ref, id.data(), id.size(), &size);
  }
  portico::check(rc);
  id.resize(size);
  return id;
}

portico::task<std::vector<std::string>> asset_ids::resolve(std::vector<reference> references) const {
  std::vector<std::string> texts(references.size()), unknown;
  std::vector<comfy_reference> asked;
  std::vector<std::size_t> place;  // of what is asked, in references
  if (service_) {
    for (std::size_t i = 0; i < references.size(); ++i) {
      if (references[i].id.empty() && references[i].hash.empty()) continue;
      comfy_reference& r = asked.emplace_back();
      r.struct_size = sizeof(comfy_reference);
      r.id = to_abi(references[i].id);
      r.hash = to_abi(references[i].hash);
      place.push_back(i);
    }
  }
  if (!asked.empty())
    co_await portico::ask(host_, [&](portico_done done, void* user) {
      return service_.table().resolve(service_.self(), asked.data(), asked.size(), done, user);
    });
  std::vector<bool> found(references.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    found[place[i]] = asked[i].found != 0;
    if (asked[i].found) texts[place[i]].assign(asked[i].text, asked[i].text_size);
  }
  for (std::size_t i = 0; i < references.size(); ++i)
    if (!found[i]) unknown.push_back(references[i].name());
  if (!unknown.empty()) throw missing(unknown);
  co_return texts;
}

}  // namespace jobs
