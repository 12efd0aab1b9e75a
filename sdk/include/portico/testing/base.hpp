// portico/testing/base.hpp - the fake server's base table, timers, work, services and stats.  Included by server.hpp.
#pragma once
#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

#include "fake_server.hpp"

namespace portico::testing::detail {

inline void log_line_of(const portico_host* h, int32_t level, portico_str text) {
  of(h).srv->log.push_back({level, str(text)});
}
inline int32_t setting_of(const portico_host* h, const char* name, portico_value* out) {
  const auto found = of(h).values.find(name);
  if (found == of(h).values.end()) return PORTICO_E_ABSENT;
  *out = {abi(found->second.first), found->second.second};
  return PORTICO_OK;
}
inline int32_t loop_index(const portico_host* h) { return of(h).srv->loops.current(); }
inline int32_t post(const portico_host* h, uint32_t loop, portico_fn fn, void* user) {
  instance& i = of(h);
  if (i.creating) return i.srv->fault("post was called inside create()"), PORTICO_E_STATE;
  if (loop >= i.srv->loops.count() || !fn) return PORTICO_E_ARGUMENT;
  ++i.holds;
  i.srv->loops.post(loop, [fn, user, &i] {
    fn(user);
    --i.holds;
  });
  return PORTICO_OK;
}
inline void hold(const portico_host* h) { ++of(h).holds; }
inline void release(const portico_host* h) {
  if (--of(h).holds < 0) of(h).srv->fault("release was called more often than hold");
}
inline int32_t cancel_op(const portico_host* h, portico_op id) {
  if (on_loop(h, "cancel") < 0) return PORTICO_E_STATE;
  for (object* o : of(h).live)
    if (auto* p = dynamic_cast<op*>(o); p && p->id == id && p->pending.waiting && p->here("cancel"))
      return p->cancel(), PORTICO_OK;
  return PORTICO_E_STATE;
}

inline int32_t timer_after(const portico_host* h, uint64_t ms, portico_done fn, void* user, portico_op* out) {
  const int32_t l = on_loop(h, "timer after");
  if (l < 0) return PORTICO_E_STATE;
  if (!fn || !out) return PORTICO_E_ARGUMENT;
  if (of(h).stopping) return PORTICO_E_CANCELLED;
  auto* t = new op(of(h), static_cast<uint32_t>(l));
  t->id = *out = ++of(h).srv->ids;
  t->later(std::chrono::milliseconds(ms), [t] { t->finish(PORTICO_OK); });
  return t->begin(t->pending, fn, user);
}
inline int32_t work_run(const portico_host* h, portico_fn on_pool, portico_done fn, void* user, portico_op* out) {
  const int32_t l = on_loop(h, "work run");
  if (l < 0) return PORTICO_E_STATE;
  if (!on_pool || !fn || !out) return PORTICO_E_ARGUMENT;
  server& s = *of(h).srv;
  if (of(h).stopping) return PORTICO_E_CANCELLED;
  if (s.loops.pool_waiting() >= s.pool_capacity) return PORTICO_E_LIMIT;
  auto* w = new op(of(h), static_cast<uint32_t>(l));
  w->is_work = true;
  w->id = *out = ++s.ids;
  s.loops.on_pool([w, alive = w->alive, on_pool, user] {
    if (!*alive || w->withdrawn) return;
    w->can_cancel = false;
    on_pool(user);
    w->finish(PORTICO_OK);
  });
  return w->begin(w->pending, fn, user);
}

inline bool listed(const char* const* list, std::string_view id) {
  for (; list && *list; ++list)
    if (id == *list) return true;
  return false;
}
inline int32_t service_provide(const portico_host* h, const char* id, const void* table, void* self) {
  if (!in_start(h, "service provide")) return PORTICO_E_STATE;
  instance& i = of(h);
  if (!listed(i.plugin->provides, id)) return PORTICO_E_ARGUMENT;
  return i.srv->services.emplace(id, provided{table, self, &i}).second ? PORTICO_OK : PORTICO_E_STATE;
}
inline int32_t service_get(const portico_host* h, const char* id, portico_service_ref* out) {
  if (!in_start(h, "service get")) return PORTICO_E_STATE;
  instance& i = of(h);
  if (!listed(i.plugin->needs, id) && !listed(i.plugin->uses, id)) return PORTICO_E_ARGUMENT;
  const auto found = i.srv->services.find(id);
  if (found == i.srv->services.end()) return PORTICO_E_ABSENT;
  *out = {found->second.table, found->second.self};
  return PORTICO_OK;
}

inline int32_t stats_define(const portico_host* h, int32_t kind, const char* name, const char* help,
                            const int64_t* bounds, std::size_t count, portico_metric** out) {
  if (!in_start(h, "stats define")) return PORTICO_E_STATE;
  instance& i = of(h);
  if (!name || !out || kind < PORTICO_COUNTER || kind > PORTICO_HISTOGRAM ||
      (kind == PORTICO_HISTOGRAM) != (count != 0))
    return PORTICO_E_ARGUMENT;
  for (const auto& m : i.srv->metrics)
    if (m->plugin == i.plugin->id && m->name == name) return PORTICO_E_STATE;
  auto m = std::make_unique<portico_metric>();
  *m = {i.plugin->id, name, help ? help : "", kind, std::vector<int64_t>(bounds, bounds + count), {}};
  m->cells.resize(kind == PORTICO_HISTOGRAM ? count + 2 : 1);
  *out = i.srv->metrics.emplace_back(std::move(m)).get();
  return PORTICO_OK;
}
inline void stats_record(portico_metric* m, int64_t value) {
  if (m->kind != PORTICO_HISTOGRAM) {
    m->cells[0] += value;
    return;
  }
  ++m->cells[static_cast<std::size_t>(std::lower_bound(m->bounds.begin(), m->bounds.end(), value) - m->bounds.begin())];
  m->cells.back() += value;
}
// Plugins' own numbers; the fake server has none itself.
inline int32_t stats_read(const portico_host* h, uint32_t index, portico_stat* out) {
  if (!out || out->struct_size < sizeof(portico_stat)) return PORTICO_E_ARGUMENT;
  for (const auto& m : of(h).srv->metrics) {
    const auto lines = static_cast<uint32_t>(m->cells.size());
    if (index >= lines) {
      index -= lines;
      continue;
    }
    int64_t value = m->cells[index], bound = 0;
    if (m->kind == PORTICO_HISTOGRAM && index + 1 < lines) {
      for (uint32_t c = 0; c < index; ++c) value += m->cells[c];
      bound = index < m->bounds.size() ? m->bounds[index] : std::numeric_limits<int64_t>::max();
    }
    *out = {out->struct_size, m->kind, abi(m->plugin), abi(m->name), abi(m->help), bound, value};
    return PORTICO_OK;
  }
  return PORTICO_E_ABSENT;
}

}  // namespace portico::testing::detail
