#include "plugins/model_upload/model_upload.hpp"

#include <filesystem>
#include <stdexcept>

#include "plugins/comfy/errors.hpp"
#include "plugins/model_upload/read_at.hpp"
#include "plugins/model_upload/safetensors.hpp"

namespace portico::model_upload {
namespace {

template <std::size_t N>
void copy(char (&out)[N], const std::string& text) noexcept {
  out[text.copy(out, N - 1)] = '\0';
}

// Details longer than there is room for would be broken JSON.
void fill(comfy_placement_result& result, const outcome& o) noexcept {
  result.status = o.status;
  result.moved = o.moved;
  result.changed = o.changed;
  copy(result.code, o.code);
  copy(result.message, o.message);
  copy(result.details, o.details.size() < sizeof result.details ? o.details : "null");
  copy(result.disk_path, o.disk_path);
}

outcome bad_format(const problem& p) {
  outcome o = refused(422, comfy::code::invalid_request, p.message);
  o.details = "{\"rule\":";
  append_json_string(o.details, p.rule);
  o.details += ",\"tensor\":";
  if (p.tensor.empty())
    o.details += "null";
  else
    append_json_string(o.details, p.tensor);
  o.details += '}';
  return o;
}

}  // namespace

outcome examine(const model_folder& folder, const candidate& c, bool place_it) {
  if (!has_model_name(c.path))
    return refused(422, comfy::code::invalid_request, "a model's name must end in .safetensors");
  const file_reader read = [&](std::uint64_t offset, char* out, std::size_t size) {
    return read_at(c.file, offset, out, size);
  };
  if (const std::optional<problem> p = check_safetensors(read, c.size)) return bad_format(*p);
  return place_it ? folder.place(c) : outcome();
}

void model_upload::start() {
  const std::string base(server().text("base_dir"));
  if (!base.empty() && !std::filesystem::is_directory(std::u8string(base.begin(), base.end())))
    throw std::runtime_error("base_dir " + base +
                             ": there is no such folder; set it to ComfyUI's own, the one that holds models");
  folder_.emplace(base, server().flag("follow_category_links"));
  publish(server(), COMFY_PLACEMENT, table, this);
}

portico_str PORTICO_CALL model_upload::base_dir(void* self) noexcept {
  return to_abi(static_cast<const model_upload*>(self)->folder_->base_dir());
}

int32_t PORTICO_CALL model_upload::check(void* self, const comfy_candidate* c, comfy_placement_result* result,
                                         portico_done done, void* user) noexcept {
  auto& me = *static_cast<model_upload*>(self);
  return answer(me.server(), me.run(c, result, false), done, user);
}

int32_t PORTICO_CALL model_upload::place(void* self, const comfy_candidate* c, comfy_placement_result* result,
                                         portico_done done, void* user) noexcept {
  auto& me = *static_cast<model_upload*>(self);
  return answer(me.server(), me.run(c, result, true), done, user);
}

task<> model_upload::run(const comfy_candidate* c, comfy_placement_result* result, bool place_it) {
  candidate wanted;
  wanted.file = c->file;
  wanted.file_name = view(c->file_name);
  wanted.size = c->size;
  wanted.root = view(c->root);
  wanted.path = view(c->path);
  outcome o;
  co_await work(server(), [&] { o = examine(*folder_, wanted, place_it); });
  fill(*result, o);
}

}  // namespace portico::model_upload
