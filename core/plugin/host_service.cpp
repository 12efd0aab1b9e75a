// portico.service/1: functions that plugins offer to each other.
#include <algorithm>
#include <string>

#include "core/plugin/tables.hpp"

namespace portico::plugin {
namespace {

bool lists(const std::vector<std::string>& ids, std::string_view id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

std::int32_t provide(const portico_host* h, const char* id, const void* table, void* self) noexcept {
  constexpr const char* function = "portico.service/1 provide";
  if (!in_start(h, function)) return PORTICO_E_STATE;
  instance& i = of(h);
  try {
    if (!id || !table) return i.fault(function, "id or table is NULL", PORTICO_E_ARGUMENT);
    if (!lists(i.plugin.provides, id))
      return i.fault(function, std::string("the plugin does not list ") + id + " in provides", PORTICO_E_ARGUMENT);
    const bool fresh = i.server.services.emplace(id, service_entry{table, self, &i}).second;
    if (!fresh) return i.fault(function, std::string(id) + " is provided already", PORTICO_E_STATE);
    i.provided.emplace_back(id);
    return PORTICO_OK;
  } catch (...) {
    return PORTICO_E_FAILED;
  }
}

std::int32_t get(const portico_host* h, const char* id, portico_service_ref* out) noexcept {
  constexpr const char* function = "portico.service/1 get";
  if (!in_start(h, function)) return PORTICO_E_STATE;
  instance& i = of(h);
  try {
    if (!id || !out) return i.fault(function, "id or out is NULL", PORTICO_E_ARGUMENT);
    if (!lists(i.plugin.needs, id) && !lists(i.plugin.uses, id))
      return i.fault(function, std::string("the plugin lists ") + id + " neither in needs nor in uses",
                     PORTICO_E_ARGUMENT);
    const auto found = i.server.services.find(std::string_view(id));
    if (found == i.server.services.end()) return PORTICO_E_ABSENT;
    *out = {found->second.table, found->second.self};
    return PORTICO_OK;
  } catch (...) {
    return PORTICO_E_FAILED;
  }
}

}  // namespace

const portico_service service_table = {sizeof(portico_service), 0, &provide, &get};

}  // namespace portico::plugin
