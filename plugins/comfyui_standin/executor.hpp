// plugins/comfyui_standin/executor.hpp - the one worker: takes prompts from the queue, runs their nodes, tells about
// it.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <portico/sdk.hpp>

#include "plugins/comfyui_standin/cache.hpp"
#include "plugins/comfyui_standin/files.hpp"
#include "plugins/comfyui_standin/gate.hpp"
#include "plugins/comfyui_standin/hub.hpp"
#include "plugins/comfyui_standin/knobs.hpp"
#include "plugins/comfyui_standin/queue.hpp"

namespace standin {

// Used on loop 0 only; pictures are made on the worker pool.
class executor {
 public:
  executor(portico::host, prompt_queue&, folders&, hub&, knobs&);

  // Works until stop().
  portico::task<void> run();
  void prompt_queued() { wake_.open(); }
  // The running prompt ends as interrupted, at its next step.
  void interrupt() { interrupted_ = true; }
  // As a restart: the running prompt vanishes without a word, and nothing is cached any more.
  void forget();
  void stop() { wake_.shut(); }
  // For LoadImage: a number that changes with the file, 0 when there is none.
  std::uint64_t file_serial(const std::string& annotated) const;

 private:
  struct node_progress {
    std::string state;
    std::int64_t value = 0, max = 1;
  };
  struct course {  // of one prompt
    explicit course(prompt_ptr p) : job(std::move(p)), epoch(0) {}
    prompt_ptr job;
    std::uint64_t epoch;
    std::string node;  // the one that runs
    outcome result;
    std::map<std::string, cached> made;
    std::vector<std::string> done;
    std::vector<std::pair<std::string, node_progress>> progress;  // in the order they started
  };
  struct interrupted {};
  struct forgotten {};

  portico::task<void> execute(prompt_ptr);
  portico::task<void> work_through(course&);
  portico::task<void> perform(course&, std::string id);
  portico::task<void> sample(course&, const inputs&, int steps);
  portico::task<std::vector<value>> evaluate(course&, const std::string& type, const inputs&,
                                             std::optional<json>& shown);
  portico::task<std::vector<image_ptr>> load(const inputs&);
  portico::task<json> save_images(const inputs&, bool temporary);
  json save_latent(const inputs&);
  portico::task<void> pause(course&, std::chrono::milliseconds);
  void check(const course&) const;

  std::vector<std::string> order_of(course&, signatures&, std::vector<std::uint64_t>& used, json& cached_nodes);
  inputs inputs_of(course&, const json& node) const;
  std::string stored(const std::string& type, const std::string& prefix, const char* extension, std::string bytes,
                     json& item);
  void tell(course&, const char* event, json data, bool to_all = false);
  void tell_progress(course&, const std::string& id, const char* state, std::int64_t done, std::int64_t max);
  void tell_executed(course&, const std::string& id, const std::optional<json>& shown);
  void tell_failure(course&, const std::string& type, const std::string& text);

  portico::host host_;
  prompt_queue& queue_;
  folders& folders_;
  hub& hub_;
  knobs& knobs_;
  node_cache cache_;
  gate wake_;
  bool interrupted_ = false;
  std::uint64_t epoch_ = 0;  // grows with each forget()
};

}  // namespace standin
