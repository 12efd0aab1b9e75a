// portico.filter/1: code that runs before the handler of every route.
#include <string>

#include "core/plugin/host_http.hpp"
#include "core/plugin/tables.hpp"

namespace portico::plugin {
namespace {

std::int32_t add(const portico_host* h, portico_on_request fn, void* user) noexcept {
  constexpr const char* function = "portico.filter/1 add";
  if (!in_start(h, function)) return PORTICO_E_STATE;
  instance& i = of(h);
  if (!fn) return i.fault(function, "fn is NULL", PORTICO_E_ARGUMENT);
  try {
    const std::string what = i.filters.empty() ? "its filter" : "its filter " + std::to_string(i.filters.size() + 1);
    i.filters.push_back(std::make_unique<bound_filter>(bound_filter{{&i, what}, i, fn, user}));
    return PORTICO_OK;
  } catch (...) {
    return PORTICO_E_FAILED;
  }
}

std::int32_t pass(portico_exchange* x) noexcept {
  try {
    held_exchange* const e = resolve<held_exchange>(x, "portico.filter/1 pass");
    return e ? e->pass() : PORTICO_E_STATE;
  } catch (...) {
    return PORTICO_E_FAILED;
  }
}

}  // namespace

const portico_filter filter_table = {sizeof(portico_filter), 0, &add, &pass};

}  // namespace portico::plugin
