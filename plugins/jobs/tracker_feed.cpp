// What the live feed says, and which job it is said of.
#include <portico/timer.hpp>
#include <utility>

#include "plugins/comfy/json.hpp"
#include "plugins/jobs/tracker.hpp"

namespace jobs {
namespace {

namespace json = comfy::json;

constexpr std::size_t longest_graph_read_on_loop = 256 * 1024;

std::unordered_map<std::string, std::string> classes_of(std::string_view graph) {
  std::unordered_map<std::string, std::string> classes;
  if (graph.size() > longest_graph_read_on_loop) return classes;
  const json::document d(graph);
  for (const json::member m : d.root().members())
    if (const json::value name = m.content["class_type"]; name.is_string()) classes[m.key.text()] = name.text();
  return classes;
}

}  // namespace

// A message that names no prompt is of the one that runs.
tracker::entry_ptr tracker::subject_of(const native_message& m) {
  return find(m.prompt_id.empty() ? current_prompt_ : m.prompt_id);
}

native tracker::on_text(std::string_view text) {
  const json::document d(text, {}, json::dialect::tolerant);
  const native_message m = read_native(d);
  if (m.kind == native::status) queue_moved();
  if (m.kind == native::status || m.kind == native::other) return m.kind;
  if (m.kind == native::execution_start) current_prompt_ = m.prompt_id;
  if (const entry_ptr e = subject_of(m)) on_native(e, m);
  return m.kind;
}

void tracker::on_native(const entry_ptr& e, const native_message& m) {
  progress_meter& meter = e->meter;
  switch (m.kind) {
    case native::execution_start:
      touch(*e);
      e->record->started(m.timestamp_us());
      return is_running(e);
    case native::execution_cached:
      if (m.data["nodes"].size() > 0) e->record->reused_outputs();
      return on_progress(e, meter.cached(m.data["nodes"]));
    case native::executing:
      if (m.data["node"].is_absent_or_null()) return on_over(e);
      return on_progress(e, meter.executing(m.node()));
    case native::executed:
      return on_executed(e, m);
    case native::progress:
      return on_progress(e, meter.step(m.node(), m.data["value"].number(), m.data["max"].number()));
    case native::progress_state:
      return on_progress(e, meter.states(m.data["nodes"]));
    case native::execution_success:
    case native::execution_error:
    case native::execution_interrupted:
      return on_over(e);
    case native::status:
    case native::other:
      return;
  }
}

// ComfyUI says so before the job is in its history.
void tracker::on_over(const entry_ptr& e) {
  e->over = true;
  touch(*e);
  if (!std::exchange(e->settling, true)) spawn_(settle(e));
}

void tracker::on_executed(const entry_ptr& e, const native_message& m) {
  std::vector<output> made;
  read_node_outputs(m.node(), m.data["output"], made);
  for (const output& o : made) {
    std::string id, text = output_text(*e->record, o, id);
    if (!e->told_outputs.insert(id).second) continue;
    e->record->add_output(text);
    tell(*e, make_event(COMFY_EVENT_OUTPUT, std::move(text)));
  }
  on_progress(e, e->meter.done(m.node()));
}

void tracker::on_progress(const entry_ptr& e, bool changed) {
  if (e->over) return;
  const status before = e->record->state();
  if (before == status::queued || before == status::expired) {  // its beginning was not heard
    touch(*e);
    is_running(e);
  }
  if (!changed) return;
  const progress& now = e->meter.now();
  if (now.current_node && !now.current_node_class) {
    if (!std::exchange(e->classes_known, true))
      if (const auto graph = e->record->graph()) e->classes = classes_of(*graph);
    if (const auto name = e->classes.find(*now.current_node); name != e->classes.end())
      e->meter.set_class(name->second);
  }
  e->record->made_progress(now);
  offer_progress(e);
}

void tracker::on_binary(std::string_view frame) {
  const std::optional<preview> p = read_preview(frame);
  if (!p) return;
  const entry_ptr e = find(p->prompt_id.empty() ? current_prompt_ : p->prompt_id);
  if (!e || e->over) return;
  e->preview_node = p->node_id;
  e->preview_type = p->content_type;
  e->preview_image.assign(p->image);
  offer_preview(e);
}

// Places in the queue may have changed; only viewers care at once.
void tracker::queue_moved() {
  if (std::exchange(queue_followed_, true)) return;
  for (const auto& [id, e] : entries_)
    if (!e->viewers.empty() && e->record->state() == status::queued) return spawn_(follow_queue());
  queue_followed_ = false;
}

}  // namespace jobs
