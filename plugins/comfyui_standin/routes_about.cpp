// What the stand-in says about itself, and its knobs.
#include "plugins/comfyui_standin/nodes.hpp"
#include "plugins/comfyui_standin/standin.hpp"

namespace standin {

standin::reply standin::get_system_stats(const call&) {
  return portico::response::json(
      200,
      R"j({"system":{"os":"stand-in","ram_total":17179869184,"ram_free":8589934592,"comfyui_version":"0.3.99",)j"
      R"j("python_version":"3.11.0 (stand-in)","pytorch_version":"2.5.0","embedded_python":false,"argv":["main.py"]},)j"
      R"j("devices":[{"name":"cpu","type":"cpu","index":null,"vram_total":17179869184,"vram_free":8589934592,)j"
      R"j("torch_vram_total":0,"torch_vram_free":0}]})j");
}

standin::reply standin::get_object_info(const call&) {
  json all = json::object();
  for (const node_spec& node : all_nodes()) all.set(node.name, describe(node));
  return portico::response::json(200, all.print());
}

standin::reply standin::get_object_info_of(const call& c) {
  json one = json::object();
  if (const node_spec* node = find_node(c.id)) one.set(c.id, describe(*node));
  return portico::response::json(200, one.print());
}

standin::reply standin::get_features(const call&) {
  return portico::response::json(
      200, "{\"supports_preview_metadata\":true,\"max_upload_size\":" + std::to_string(max_body_) + "}");
}

standin::reply standin::get_knobs(const call&) { return portico::response::json(200, knobs_.print().print()); }

standin::reply standin::post_knobs(const call& c) {
  const std::optional<json> patch = json::parse(c.body);
  const std::optional<std::string> wrong = patch ? knobs_.apply(*patch) : "this is not JSON";
  if (wrong) return portico::http_error(400, "bad_knob", *wrong).answer();
  return portico::response::json(200, knobs_.print().print());
}

standin::reply standin::get_counters(const call&) {
  return portico::response::json(200, counters_.print(hub_.open()).print());
}

// Knobs as the settings say, counters at zero.  What runs goes on.
standin::reply standin::post_reset(const call&) {
  knobs_ = defaults_;
  counters_.reset();
  return portico::response(204);
}

// As if ComfyUI had been started anew: queue, history, cache and sockets are gone, files stay.
standin::reply standin::post_restart(const call&) {
  executor_.forget();
  queue_.forget();
  hub_.close_all();
  executor_.prompt_queued();
  return portico::response(204);
}

}  // namespace standin
