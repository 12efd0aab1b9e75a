// The node classes that read or store files, and the way from a class to its result.
#include <cstdio>
#include <optional>

#include "plugins/comfyui_standin/executor.hpp"
#include "plugins/comfyui_standin/nodes.hpp"

namespace standin {
namespace {

json with(const char* kind, json items) {
  json shown = json::object();
  shown.set(kind, std::move(items));
  return shown;
}

}  // namespace

portico::task<std::vector<value>> executor::evaluate(course& c, const std::string& type, const inputs& in,
                                                     std::optional<json>& shown) {
  std::vector<value> out;
  if (type == "KSampler") {
    const std::int64_t steps = literal(in, "steps").as_integer(1);
    co_await sample(c, in, static_cast<int>(steps));
    out.push_back(sampled(in));
  } else if (type == "SaveImage" || type == "PreviewImage") {
    json items = co_await save_images(in, type == "PreviewImage");
    shown = with("images", std::move(items));
  } else if (type == "SaveLatent") {
    shown = with("latents", save_latent(in));
  } else if (type == "PreviewAny") {
    const auto source = in.find("source");
    const plain* text = source == in.end() ? nullptr : std::get_if<plain>(&source->second);
    json items = json::array();
    items.push(json::text(!text ? "<a value>" : text->literal.is_text() ? text->literal.str() : text->literal.print()));
    shown = with("text", std::move(items));
  } else if (type == "LoadImage") {
    images pictures;
    pictures.all = co_await load(in);
    out.push_back(pictures);
    out.push_back(std::move(pictures));  // the mask
  } else if (type == "VAEDecode" || type == "EmptyImage" || type.compare(0, 5, "Image") == 0) {
    std::optional<node_failure> failure;  // no exception may travel with a result through the pool by value
    out = co_await portico::work(host_, [&]() -> std::vector<value> {
      try {
        return compute(type, in);
      } catch (const node_failure& f) {
        failure.emplace(f);
      } catch (const std::exception& e) {
        failure.emplace("RuntimeError", e.what());
      }
      return {};
    });
    if (failure) throw node_failure(*failure);
  } else {
    out = compute(type, in);
  }
  co_return out;
}

portico::task<std::vector<image_ptr>> executor::load(const inputs& in) {
  const std::string annotated = literal(in, "image").str();
  const file_name named = file_named(annotated);
  const std::optional<std::string> path = folders::inside({}, named.path);
  const stored_file* file = path ? folders_.find(named.type, *path) : nullptr;
  if (!file) throw node_failure("FileNotFoundError", "[Errno 2] No such file or directory: '" + annotated + '\'');
  const std::shared_ptr<const std::string> bytes = file->bytes;
  image_ptr picture = co_await portico::work(host_, [&] {
    std::optional<image> read = from_png(*bytes);
    return std::make_shared<const image>(read ? std::move(*read) : pattern(*bytes));
  });
  co_return std::vector<image_ptr>(1, picture);
}

// Stores a file under the next number of its prefix, and adds what the history says of it to `item`.  Returns its name.
std::string executor::stored(const std::string& type, const std::string& prefix, const char* extension,
                             std::string bytes, json& item) {
  const std::optional<std::string> checked = folders::inside({}, prefix);
  if (!checked) throw node_failure("Exception", "Saving image outside the output folder is not allowed.");
  const std::size_t slash = checked->rfind('/');
  const std::string subfolder = slash == std::string::npos ? "" : checked->substr(0, slash);
  char number[16];
  std::snprintf(number, sizeof number, "_%05d_", folders_.next_number(type, *checked));
  std::string name = checked->substr(slash + 1) + number + extension, kept = name;
  if (!knobs_.filenames.empty()) {
    name = knobs_.filenames.front();
    knobs_.filenames.erase(knobs_.filenames.begin());
    kept = name.substr(name.find_last_of("/\\") + 1);  // npos + 1 is 0: the whole name
  }
  const std::optional<std::string> path = folders::inside(subfolder, kept);
  if (path && !knobs_.lose_outputs) folders_.put(type, *path, std::move(bytes));
  item.set("filename", json::text(name));
  item.set("subfolder", json::text(subfolder));
  item.set("type", json::text(type));
  return name;
}

portico::task<json> executor::save_images(const inputs& in, bool temporary) {
  const images& pictures = images_in(in, "images");
  const std::string prefix = temporary ? "ComfyUI_temp_standin" : literal(in, "filename_prefix").str();
  json items = json::array();
  for (const image_ptr& one : pictures.all) {
    std::string png = co_await portico::work(host_, [&] { return to_png(*one); });
    json item = json::object();
    stored(temporary ? "temp" : "output", prefix, ".png", std::move(png), item);
    items.push(std::move(item));
  }
  co_return items;
}

json executor::save_latent(const inputs& in) {
  json items = json::array(), item = json::object();
  stored("output", literal(in, "filename_prefix").str(), ".latent", to_safetensors(latent_in(in, "samples")), item);
  items.push(std::move(item));
  return items;
}

}  // namespace standin
