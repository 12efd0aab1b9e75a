// plugins/events/events.hpp - the plugin: GET /api/v2/jobs/{id}/events, a job's life as server-sent events.
#pragma once
#include <portico/plugin.hpp>
#include <portico/service.hpp>
#include <portico/stats.hpp>

#include "plugins/comfy/jobs.h"
#include "plugins/events/places.hpp"
#include "plugins/events/viewer.hpp"

namespace events {

class events_plugin final : public portico::plugin {
 public:
  static constexpr const char* needs[] = {COMFY_JOBS, nullptr};
  static constexpr const char* routes[] = {"GET /api/v2/jobs/{id}/events", nullptr};

  explicit events_plugin(portico::host);
  void start() override;

 private:
  portico::task<portico::response> stream(portico::request&);
  portico::task<> subscribe(portico::request&, subscription&);
  portico::task<> relay(portico::request&, viewer&);

  portico::service<comfy_jobs> jobs_;
  places places_;
  const viewer::timing timing_;
  portico::metric open_;
};

}  // namespace events
