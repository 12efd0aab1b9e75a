#include "plugins/comfyui_standin/queue.hpp"

#include <algorithm>

#include <portico/response.hpp>

namespace standin {
namespace {

// The order of a heap whose front is the smallest number; of equal ones the smaller id, as Python compares tuples.
bool later(const prompt_ptr& a, const prompt_ptr& b) {
  return a->number != b->number ? a->number > b->number : a->id > b->id;
}

}  // namespace

std::string prompt::row() const {
  std::string out = "[" + number_text + ',';
  portico::append_json_string(out, id);
  out += ',';
  graph.print_to(out);
  out += ',';
  extra_data.print_to(out);
  out += ",[";
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (i) out += ',';
    portico::append_json_string(out, targets[i]);
  }
  return out += "]]";
}

std::string history_entry::status_text() const {
  std::string out = "{\"status_str\":\"";
  out.append(result.completed ? "success" : "error").append("\",\"completed\":");
  out.append(result.completed ? "true" : "false").append(",\"messages\":[");
  for (std::size_t i = 0; i < result.messages.size(); ++i) {
    out.append(i ? ",[" : "[");
    portico::append_json_string(out, result.messages[i].first);
    out += ',';
    result.messages[i].second.print_to(out);
    out += ']';
  }
  return out += "]}";
}

std::string history_entry::text() const {
  return "{\"prompt\":" + job->row() + ",\"outputs\":" + result.outputs.print() + ",\"status\":" + status_text() +
         ",\"meta\":{}}";
}

void prompt_queue::put(prompt_ptr p) {
  heap_.push_back(std::move(p));
  std::push_heap(heap_.begin(), heap_.end(), later);
}

prompt_ptr prompt_queue::take() {
  if (heap_.empty() || running_) return nullptr;
  std::pop_heap(heap_.begin(), heap_.end(), later);
  running_ = std::move(heap_.back());
  heap_.pop_back();
  return running_;
}

void prompt_queue::finish(outcome result) {
  if (!running_) return;
  erase_history(running_->id);  // a prompt_id used twice
  history_.push_back({std::move(running_), std::move(result)});
  running_.reset();
  by_id_[history_.back().job->id] = std::prev(history_.end());
  if (history_.size() > max_history_) {
    by_id_.erase(history_.front().job->id);
    history_.pop_front();
  }
}

bool prompt_queue::erase(std::string_view id) {
  const auto it = std::find_if(heap_.begin(), heap_.end(), [&](const prompt_ptr& p) { return p->id == id; });
  if (it == heap_.end()) return false;
  heap_.erase(it);
  std::make_heap(heap_.begin(), heap_.end(), later);
  return true;
}

void prompt_queue::forget() {
  heap_.clear();
  running_.reset();
  clear_history();
}

bool prompt_queue::is_waiting(std::string_view id) const noexcept {
  return std::any_of(heap_.begin(), heap_.end(), [&](const prompt_ptr& p) { return p->id == id; });
}

std::string prompt_queue::text() const {
  std::string out = "{\"queue_running\":[";
  if (running_) out += running_->row();
  out += "],\"queue_pending\":[";
  for (std::size_t i = 0; i < heap_.size(); ++i) out.append(i ? "," : "").append(heap_[i]->row());
  return out += "]}";
}

const history_entry* prompt_queue::find(std::string_view id) const {
  const auto it = by_id_.find(std::string(id));
  return it == by_id_.end() ? nullptr : &*it->second;
}

bool prompt_queue::erase_history(std::string_view id) {
  const auto it = by_id_.find(std::string(id));
  if (it == by_id_.end()) return false;
  history_.erase(it->second);
  by_id_.erase(it);
  return true;
}

void prompt_queue::clear_history() {
  history_.clear();
  by_id_.clear();
}

std::string prompt_queue::history_text(std::int64_t max) const {
  auto from = history_.begin();
  if (max >= 0 && static_cast<std::size_t>(max) < history_.size())
    std::advance(from, static_cast<std::ptrdiff_t>(history_.size()) - max);
  std::string out = "{";
  for (auto it = from; it != history_.end(); ++it) {
    if (it != from) out += ',';
    portico::append_json_string(out, it->job->id);
    out.append(":").append(it->text());
  }
  return out += '}';
}

}  // namespace standin
