// plugins/comfyui_standin/standin.hpp - a stand-in ComfyUI: its routes, over the queue, the worker, the folders and the
// sockets.  Everything behind the routes lives on loop 0; a handler reads its body on the loop of its request, does its
// work on loop 0, and answers from its own loop again.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <portico/sdk.hpp>

#include "plugins/comfyui_standin/executor.hpp"
#include "plugins/comfyui_standin/files.hpp"
#include "plugins/comfyui_standin/hub.hpp"
#include "plugins/comfyui_standin/knobs.hpp"
#include "plugins/comfyui_standin/queue.hpp"

namespace standin {

class standin final : public portico::plugin {
 public:
  explicit standin(portico::host);
  void start() override;
  void stop() noexcept override;

 private:
  // A request, copied so that it can be looked at on loop 0.
  struct call {
    std::string id, query_text, body;
    std::vector<std::pair<std::string, std::string>> headers;
    std::string query(std::string_view name) const;
    bool has_query(std::string_view name) const;
    std::string_view header(std::string_view name) const;
    std::optional<json> body_json() const { return body.empty() ? json::object() : json::parse(body); }
  };
  // An answer; with a file, `length` bytes of it from `from` are the body.
  struct reply {
    reply(portico::response r) : head(std::move(r)) {}
    portico::response head;
    std::shared_ptr<const std::string> file;
    std::size_t from = 0, length = 0;
  };
  struct entry {
    const char *method, *pattern;
    reply (standin::*act)(const call&);
  };
  static const entry table[];
  static const entry control[];

  template <std::size_t I>
  portico::task<portico::response> serve(portico::request& r) {
    return answer(r, table[I], true);
  }
  template <std::size_t I>
  portico::task<portico::response> serve_control(portico::request& r) {
    return answer(r, control[I], false);
  }
  template <std::size_t... I>
  void register_routes(std::index_sequence<I...>);
  template <std::size_t... I>
  void register_control(std::index_sequence<I...>);
  void serve_at(const char* method, const std::string& pattern,
                portico::task<portico::response> (standin::*)(portico::request&));
  portico::task<portico::response> answer(portico::request&, const entry&, bool counted);
  portico::task<portico::response> misbehave(portico::request&, fault, std::string true_body);
  portico::task<portico::response> send(portico::request&, reply);
  std::optional<fault> take_fault(const std::string& route);
  portico::task<portico::response> socket(portico::request& r) { return hub_.serve(r); }

  // routes_prompts.cpp
  reply post_prompt(const call&);
  reply get_prompt(const call&);
  reply get_queue(const call&);
  reply post_queue(const call&);
  reply get_history(const call&);
  reply get_history_of(const call&);
  reply post_history(const call&);
  reply post_interrupt(const call&);
  reply get_job(const call&);
  reply cancel_job(const call&);
  // routes_files.cpp
  reply get_view(const call&);
  reply post_upload(const call&);
  // routes_about.cpp
  reply get_system_stats(const call&);
  reply get_object_info(const call&);
  reply get_object_info_of(const call&);
  reply get_features(const call&);
  reply get_knobs(const call&);
  reply post_knobs(const call&);
  reply get_counters(const call&);
  reply post_reset(const call&);
  reply post_restart(const call&);

  std::string job_text(const std::string& id) const;  // empty: no such job
  bool interrupt_if_running(const std::string& id);

  const std::int64_t max_body_;
  const bool log_prompts_;
  const knobs defaults_;
  knobs knobs_;
  counters counters_;
  prompt_queue queue_;
  folders folders_;
  hub hub_;
  executor executor_;
};

}  // namespace standin
