// core/plugin/host_stats.hpp - the numbers of all plugins and of core itself.
#pragma once
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <portico/abi/stats.h>

#include "core/plugin/instance.hpp"

namespace portico::plugin {

// Metrics are added on loop 0 while plugins start; reading is possible on any thread at any time.
class statistics_registry {
 public:
  explicit statistics_registry(server_state&);
  ~statistics_registry();
  statistics_registry(const statistics_registry&) = delete;
  statistics_registry& operator=(const statistics_registry&) = delete;

  // PORTICO_OK, E_STATE: the plugin has one of that name, E_ARGUMENT with the reason in *why.
  std::int32_t define(const instance&, std::int32_t kind, const char* name, const char* help,
                      const std::int64_t* bounds, std::size_t bound_count, portico_metric** out, std::string* why);
  // False: index is past the last one.
  bool read(std::uint32_t index, portico_stat* out) const;
  // The metrics of a plugin that did not start; records that still come go nowhere.
  void forget(const instance&) noexcept;

 private:
  struct line {
    std::string plugin, name, help;
    std::int32_t kind = 0;
    const portico_metric* metric = nullptr;  // nullptr: one of core's own
    std::size_t cell = 0;
    std::int64_t bound = 0;
    std::int64_t (*read)(const server_state&) = nullptr;
  };
  void add_core(const char* name, const char* help, std::int32_t kind, std::int64_t (*value)(const server_state&));
  void add_lines(const instance&, const portico_metric&, const char* help, const std::vector<std::int64_t>& bounds);

  server_state& server_;
  mutable std::mutex lock_;  // of lines_ and metrics_, not of the values
  std::deque<line> lines_;
  std::deque<std::unique_ptr<portico_metric>> metrics_;
};

}  // namespace portico::plugin
