// The base table: log, settings, capabilities, posting, holding; and what all tables begin with.
#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/plugin/host_timer.hpp"
#include "core/plugin/host_work.hpp"
#include "core/plugin/tables.hpp"

namespace portico::plugin {
namespace {

#if defined(PORTICO_CHECK_TAGS)
constexpr bool checks_tags = true;
#else
constexpr bool checks_tags = false;
#endif

void log(const portico_host* h, std::int32_t level, portico_str text) noexcept {
  constexpr std::array levels = {base::level::debug, base::level::info, base::level::warning, base::level::error};
  if (!sound(text)) {
    of(h).fault("portico_host log", "text.data is NULL and text.size is not 0");
    return;
  }
  const std::size_t at = level < 0 ? 0 : level > 3 ? 3 : static_cast<std::size_t>(level);
  of(h).log(levels[at], view(text));
}

std::int32_t setting(const portico_host* h, const char* name, portico_value* out) noexcept {
  const instance& i = of(h);
  if (!name || !out) return PORTICO_E_ARGUMENT;
  const auto found = i.keys.find(std::string_view(name));
  if (found == i.keys.end()) return PORTICO_E_ABSENT;
  *out = {to_abi(found->second.text), found->second.number};
  return PORTICO_OK;
}

const void* find(const portico_host*, const char* id) noexcept {
  if (!id) return nullptr;
  const std::pair<std::string_view, const void*> tables[] = {
      {PORTICO_HTTP, &http_table},       {PORTICO_FILTER, &filter_table}, {PORTICO_TIMER, &timer_table},
      {PORTICO_WORK, &work_table},       {PORTICO_CLIENT, &client_table}, {PORTICO_WEBSOCKET, &websocket_table},
      {PORTICO_SERVICE, &service_table}, {PORTICO_STATS, &stats_table}};
  for (const auto& [name, table] : tables)
    if (name == id) return table;
  return nullptr;
}

std::int32_t loop_index(const portico_host* h) noexcept {
  const loop_state* const l = of(h).server.here();
  return l ? static_cast<std::int32_t>(l->index) : -1;
}

struct posted {
  instance& owner;
  portico_fn fn;
  void* user;
};

std::int32_t post(const portico_host* h, std::uint32_t loop, portico_fn fn, void* user) noexcept {
  constexpr const char* function = "portico_host post";
  instance& i = of(h);
  if (!fn) return i.fault(function, "fn is NULL", PORTICO_E_ARGUMENT);
  if (loop >= i.server.loops.size())
    return i.fault(function, "there is no loop " + std::to_string(loop), PORTICO_E_ARGUMENT);
  if (i.now.load(std::memory_order_relaxed) == phase::creating)
    return i.fault(function, "called inside create()", PORTICO_E_STATE);
  try {
    auto item = std::make_unique<posted>(posted{i, fn, user});
    i.count_hold();
    i.server.loops[loop]->loop.post(
        [](void* held) {
          const std::unique_ptr<posted> own(static_cast<posted*>(held));
          instance& who = own->owner;
          if (!cross(who.server.here()->busy, who.in_post, [&] { own->fn(own->user); }))
            who.fault("portico_host post", "the posted call threw; nothing may leave a callback");
          who.count_release();
        },
        item.get(), [](void* held) { delete static_cast<posted*>(held); });
    static_cast<void>(item.release());
    return PORTICO_OK;
  } catch (...) {
    return PORTICO_E_FAILED;
  }
}

void hold(const portico_host* h) noexcept { of(h).count_hold(); }
void release(const portico_host* h) noexcept { of(h).count_release(); }

std::int32_t cancel(const portico_host* h, portico_op op) noexcept {
  if (!on_loop(h, "portico_host cancel")) return PORTICO_E_STATE;
  bool wrong_thread = false;
  for (const kind k : {kind::timer, kind::work})
    if (object* const o = handle_table::find(op, k, &wrong_thread)) {
      if (&o->owner() != &of(h))
        return of(h).fault("portico_host cancel", "the op is another plugin's", PORTICO_E_ARGUMENT);
      return k == kind::timer ? static_cast<held_timer*>(o)->cancel() : static_cast<held_work*>(o)->cancel();
    }
  if (wrong_thread) return fault_here("portico_host cancel", "the op belongs to another loop"), PORTICO_E_STATE;
  return PORTICO_E_STATE;  // already over: harmless
}

}  // namespace

const portico_host host_table = {sizeof(portico_host),
                                 PORTICO_ABI_MINOR,
                                 0,
                                 0,
                                 nullptr,
                                 &log,
                                 &setting,
                                 &find,
                                 &loop_index,
                                 &post,
                                 &hold,
                                 &release,
                                 &cancel};

void tag_breach(const std::string& who, const char* function, const char* tag, const char* found) noexcept {
  base::log(base::level::error, who,
            std::string(function) + " is tagged " + tag + " and was called " + found +
                "; this build checks tags and ends here");
  std::abort();
}

loop_state* on_loop(const portico_host* h, const char* function) noexcept {
  instance& i = of(h);
  loop_state* const l = i.server.here();
  const char* wrong = nullptr;
  if (!l)
    wrong = "on a thread that turns no loop of this server";
  else if (i.now.load(std::memory_order_relaxed) == phase::creating)
    wrong = "inside create()";
  if (!wrong) return l;
  if constexpr (checks_tags) tag_breach("plugin." + i.name, function, "[loop]", wrong);
  i.fault(function, std::string("called ") + wrong);
  return nullptr;
}

bool in_start(const portico_host* h, const char* function) noexcept {
  instance& i = of(h);
  const loop_state* const l = i.server.here();
  if (l && l->index == 0 && i.now.load(std::memory_order_relaxed) == phase::starting) return true;
  if constexpr (checks_tags) tag_breach("plugin." + i.name, function, "[start]", "outside start()");
  i.fault(function, "called outside start()");
  return false;
}

void fault_here(const char* function, const std::string& what) noexcept {
  const handle_table* const t = handle_table::here();
  const label* const l = t && t->state ? t->state->busy.inside.load(std::memory_order_relaxed) : nullptr;
  if (!l) return base::log(base::level::warning, "plugin", std::string(function) + ": " + what);
  l->who->fault(function, what + " (in " + l->what + ")");
}

object* resolve(std::uint64_t handle, kind k, const char* function) noexcept {
  bool wrong_thread = false;
  if (object* const o = handle_table::find(handle, k, &wrong_thread)) return o;
  if (wrong_thread) {
    if constexpr (checks_tags)
      tag_breach("plugin", function, "[loop]", "on a thread that does not turn the object's loop");
    fault_here(function, std::string("the ") + name_of(k) + " belongs to another loop");
  } else {
    fault_here(function,
               std::string("this ") + name_of(k) + " is not held; it was given back already, or never given out");
  }
  return nullptr;
}

bool take_fields(loop_state& l, const portico_field* fields, std::size_t count) noexcept {
  constexpr std::size_t most = 10'000;
  if (count > most || (count && !fields)) return false;
  try {
    l.fields.clear();
    for (std::size_t i = 0; i < count; ++i) {
      if (!sound(fields[i].name) || !sound(fields[i].value)) return false;
      l.fields.push_back({view(fields[i].name), view(fields[i].value)});
    }
    return true;
  } catch (...) {
    return false;
  }
}

void give_fields(std::vector<portico_field>& out, std::span<const http::field> fields) {
  for (const http::field& f : fields) out.push_back({to_abi(f.name), to_abi(f.value)});
}

void call_done(loop_state& l, const label& where, const pending& p, base::status status) noexcept {
  if (!cross(l.busy, where, [&] { p.fn(p.user, status); }))
    where.who->fault("done", "the callback of " + where.what + " threw; nothing may leave a callback");
}

}  // namespace portico::plugin
