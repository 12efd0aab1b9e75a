// plugins/comfyui_standin/queue.hpp - prompts that wait, the one that runs, and those that are history.
#pragma once
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plugins/comfyui_standin/json.hpp"

namespace standin {

// One prompt as it was accepted.  Does not change afterwards.
struct prompt {
  double number = 0;        // the smallest runs first
  std::string number_text;  // as it is shown
  std::string id;
  std::string client_id;  // whose socket is told; empty: nobody's
  json graph, extra_data;
  std::vector<std::string> targets;  // the output nodes to execute
  std::string row() const;           // [number, id, prompt, extra_data, outputs] as JSON text
};
using prompt_ptr = std::shared_ptr<const prompt>;

// What became of a prompt.
struct outcome {
  bool completed = false;  // false: an error, or interrupted
  json outputs = json::object();
  std::vector<std::pair<std::string, json>> messages;  // in order; each with its timestamp
};

struct history_entry {
  prompt_ptr job;
  outcome result;
  std::string status_text() const;  // {"status_str":..,"completed":..,"messages":[..]}
  std::string text() const;         // {"prompt":..,"outputs":..,"status":..,"meta":{}}
};

// Used on loop 0 only.
class prompt_queue {
 public:
  // max_history: older entries are forgotten.
  explicit prompt_queue(std::size_t max_history) : max_history_(max_history) {}

  // The number a new prompt gets when it names none: counts up, negative for one that wants to be first.
  std::int64_t next_number(bool front) { return front ? -counter_++ : counter_++; }
  void put(prompt_ptr);
  // Moves the first waiting prompt to running and returns it; null when there is none.  Only when nothing runs.
  prompt_ptr take();
  // The running prompt is done and becomes history.
  void finish(outcome);
  // Takes a waiting prompt out; false when it is not waiting.
  bool erase(std::string_view id);
  void clear() { heap_.clear(); }
  // Everything is forgotten, the running prompt too.
  void forget();

  const prompt_ptr& running() const noexcept { return running_; }
  const std::vector<prompt_ptr>& waiting() const noexcept { return heap_; }  // in heap order, as ComfyUI shows it
  std::size_t remaining() const noexcept { return heap_.size() + (running_ ? 1 : 0); }
  bool is_waiting(std::string_view id) const noexcept;
  std::string text() const;  // {"queue_running":[..],"queue_pending":[..]}

  const history_entry* find(std::string_view id) const;
  bool erase_history(std::string_view id);
  void clear_history();
  // {"id":entry,..} of at most max entries, the newest, in order; max < 0: all.
  std::string history_text(std::int64_t max) const;

 private:
  std::size_t max_history_;
  std::int64_t counter_ = 0;
  std::vector<prompt_ptr> heap_;
  prompt_ptr running_;
  std::list<history_entry> history_;  // oldest first
  std::unordered_map<std::string, std::list<history_entry>::iterator> by_id_;
};

}  // namespace standin
