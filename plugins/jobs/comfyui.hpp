// plugins/jobs/comfyui.hpp - the calls to ComfyUI.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <portico/client.hpp>
#include <portico/host.hpp>
#include <portico/task.hpp>

#include "plugins/jobs/history.hpp"

namespace jobs {

// On any loop; a call stays on the loop it was begun on, and no client's going ends it.  No header of a client is
// passed on. All but prompt() throw http_error: 503 upstream_unreachable when no whole answer came within 25 s, 500
// upstream_error when what came is not what ComfyUI answers with; and portico::error CANCELLED when the plugin stops.
class comfyui {
 public:
  // url: without a trailing slash.  Both are kept by reference or view: they outlive this.
  comfyui(const portico::host& h, std::string_view url) noexcept : host_(h), url_(url) {}

  struct reply {
    int status = 0;
    std::string body;
  };
  // POST /prompt.  extra_data: JSON, or empty.  Throws portico::error: UNREACHABLE means that ComfyUI got nothing; with
  // any other it may have taken the job.
  portico::task<reply> prompt(std::shared_ptr<const std::string> graph, std::string id, std::string client_id,
                              std::string extra_data) const;
  portico::task<std::shared_ptr<const queue_snapshot>> queue() const;
  portico::task<std::optional<ending>> history(std::string id) const;
  // Cancels a job that waits or runs.  True when ComfyUI says that it did; false when it has no such job.
  portico::task<bool> cancel(std::string id) const;

  // The address of the live feed: ws or wss.
  std::string feed_url(std::string_view client_id) const;

 private:
  portico::task<reply> ask(std::string method, std::string path, std::string body) const;
  portico::task<bool> cancel_in_old_version(std::string id) const;

  const portico::host& host_;
  const std::string_view url_;
};

// The error a client is answered with when a call failed with this code of portico's.  CANCELLED and the like are
// thrown on.
[[noreturn]] void throw_upstream_failure(const portico::error&);
[[noreturn]] void throw_upstream_error(std::string what);

}  // namespace jobs
