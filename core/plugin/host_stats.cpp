#include "core/plugin/host_stats.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <utility>

#include "core/plugin/tables.hpp"

// A metric: its cells once for each loop and once for all other threads, each copy on cache lines of its own.  A
// counter or gauge has one cell; a histogram one for each bound, one for all that is above, and one for the sum.
struct portico_metric {
  portico::plugin::server_state& server;
  const portico::plugin::instance& owner;
  std::string name;
  std::int32_t kind;
  std::vector<std::int64_t> bounds;
  std::size_t copies, stride;
  std::unique_ptr<std::atomic<std::int64_t>[]> cells;

  std::size_t width() const noexcept { return kind == PORTICO_HISTOGRAM ? bounds.size() + 2 : 1; }
  std::int64_t sum(std::size_t cell) const noexcept {
    std::int64_t all = 0;
    for (std::size_t c = 0; c < copies; ++c) all += cells[c * stride + cell].load(std::memory_order_relaxed);
    return all;
  }
};

namespace portico::plugin {
namespace {

constexpr std::size_t longest_name = 64, most_bounds = 100;
constexpr std::size_t oldest_stat = offsetof(portico_stat, value) + sizeof(portico_stat::value);

bool good_name(std::string_view name) noexcept {
  if (name.empty() || name.size() > longest_name || name[0] < 'a' || name[0] > 'z') return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

std::int64_t number(std::uint64_t n) noexcept { return static_cast<std::int64_t>(n); }

template <std::uint64_t http::statistics::*member>
std::int64_t of_http(const server_state& s) {
  return s.env.http_stats ? number(s.env.http_stats().*member) : 0;
}
template <std::uint64_t upstream::statistics::*member>
std::int64_t of_upstream(const server_state& s) {
  std::uint64_t all = 0;
  for (const upstream::client* c : s.env.upstream_clients) all += c->stats().*member;
  return number(all);
}

}  // namespace

statistics_registry::statistics_registry(server_state& s) : server_(s) {
  constexpr auto counter = PORTICO_COUNTER, gauge = PORTICO_GAUGE;
  using http_numbers = http::statistics;
  using upstream_numbers = upstream::statistics;
  add_core("requests_total", "Requests answered.", counter, &of_http<&http_numbers::requests>);
  add_core("responses_4xx_total", "Answers with a status of 400 to 499.", counter,
           &of_http<&http_numbers::responses_4xx>);
  add_core("responses_5xx_total", "Answers with a status of 500 to 599.", counter,
           &of_http<&http_numbers::responses_5xx>);
  add_core("connections_accepted_total", "Client connections.", counter, &of_http<&http_numbers::connections_accepted>);
  add_core("connections_refused_total", "Connections closed at once, as their client had too many.", counter,
           &of_http<&http_numbers::connections_refused>);
  add_core("connections_open", "Client connections now.", gauge, &of_http<&http_numbers::connections_open>);
  add_core("bytes_in_total", "Bytes received from clients.", counter, &of_http<&http_numbers::bytes_in>);
  add_core("bytes_out_total", "Bytes sent to clients.", counter, &of_http<&http_numbers::bytes_out>);
  add_core("loops", "Event loops.", gauge, [](const server_state& st) { return number(st.env.loops.size()); });
  add_core("loop_turns_total", "Turns of all event loops.", counter, [](const server_state& st) {
    std::uint64_t all = 0;
    for (const loop::event_loop* l : st.env.loops) all += l->turns();
    return number(all);
  });
  add_core("pool_waiting", "Work that waits for a pool thread.", gauge,
           [](const server_state& st) { return st.env.workers ? number(st.env.workers->waiting()) : 0; });
  add_core("pool_running", "Work that runs on the pool.", gauge,
           [](const server_state& st) { return st.env.workers ? number(st.env.workers->running()) : 0; });
  add_core("upstream_calls_total", "Calls to upstreams.", counter, &of_upstream<&upstream_numbers::calls>);
  add_core("upstream_failures_total", "Calls to upstreams that failed.", counter,
           &of_upstream<&upstream_numbers::failures>);
  add_core("upstream_connections_opened_total", "Connections opened to upstreams.", counter,
           &of_upstream<&upstream_numbers::connections_opened>);
  add_core("upstream_connections_reused_total", "Calls that found a kept connection.", counter,
           &of_upstream<&upstream_numbers::connections_reused>);
  add_core("upstream_connections_open", "Connections to upstreams now.", gauge,
           &of_upstream<&upstream_numbers::connections_open>);
  add_core("upstream_connections_idle", "Kept connections to upstreams now.", gauge,
           &of_upstream<&upstream_numbers::connections_idle>);
}

statistics_registry::~statistics_registry() = default;

void statistics_registry::add_core(const char* name, const char* help, std::int32_t kind,
                                   std::int64_t (*value)(const server_state&)) {
  lines_.push_back({"portico", name, help, kind, nullptr, 0, 0, value});
}

std::int32_t statistics_registry::define(const instance& owner, std::int32_t kind, const char* name, const char* help,
                                         const std::int64_t* bounds, std::size_t bound_count, portico_metric** out,
                                         std::string* why) {
  if (!name || !good_name(name))
    return *why = "the metric's name is not [a-z][a-z0-9_]* of at most 64 bytes", PORTICO_E_ARGUMENT;
  if (kind < PORTICO_COUNTER || kind > PORTICO_HISTOGRAM)
    return *why = "there is no such kind of metric", PORTICO_E_ARGUMENT;
  if ((bound_count && !bounds) || bound_count > most_bounds || (kind == PORTICO_HISTOGRAM) != (bound_count != 0))
    return *why = "a histogram has 1 to 100 bounds, other metrics none", PORTICO_E_ARGUMENT;
  std::vector<std::int64_t> all(bounds, bounds + bound_count);
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i] <= all[i - 1]) return *why = "the bounds do not rise", PORTICO_E_ARGUMENT;

  const std::lock_guard hold(lock_);
  for (const auto& m : metrics_)
    if (&m->owner == &owner && m->name == name)
      return *why = std::string(name) + " is defined already", PORTICO_E_STATE;
  auto fresh =
      std::make_unique<portico_metric>(portico_metric{server_, owner, name, kind, std::move(all), 0, 0, nullptr});
  constexpr std::size_t line_cells = 64 / sizeof(std::int64_t);
  fresh->copies = server_.loops.size() + 1;
  fresh->stride = (fresh->width() + line_cells - 1) / line_cells * line_cells;
  fresh->cells = std::make_unique<std::atomic<std::int64_t>[]>(fresh->copies * fresh->stride);
  add_lines(owner, *fresh, help ? help : "", fresh->bounds);
  *out = metrics_.emplace_back(std::move(fresh)).get();
  return PORTICO_OK;
}

void statistics_registry::add_lines(const instance& owner, const portico_metric& m, const char* help,
                                    const std::vector<std::int64_t>& bounds) {
  if (m.kind != PORTICO_HISTOGRAM) {
    lines_.push_back({owner.name, m.name, help, m.kind, &m, 0, 0, nullptr});
    return;
  }
  for (std::size_t i = 0; i < bounds.size(); ++i)
    lines_.push_back({owner.name, m.name, help, m.kind, &m, i, bounds[i], nullptr});
  constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
  lines_.push_back({owner.name, m.name, help, m.kind, &m, bounds.size(), all, nullptr});
  lines_.push_back({owner.name, m.name + "_sum", help, PORTICO_COUNTER, &m, bounds.size() + 1, 0, nullptr});
}

void statistics_registry::forget(const instance& owner) noexcept {
  const std::lock_guard hold(lock_);
  std::erase_if(lines_, [&](const line& l) { return l.metric && &l.metric->owner == &owner; });
}

bool statistics_registry::read(std::uint32_t index, portico_stat* out) const {
  const std::lock_guard hold(lock_);
  if (index >= lines_.size()) return false;
  const line& l = lines_[index];
  std::int64_t value = 0;
  if (!l.metric)
    value = l.read(server_);
  else if (l.metric->kind != PORTICO_HISTOGRAM || l.cell > l.metric->bounds.size())
    value = l.metric->sum(l.cell);
  else
    for (std::size_t c = 0; c <= l.cell; ++c) value += l.metric->sum(c);  // up to and with this bound
  const std::uint32_t size = out->struct_size;
  *out = {size, l.kind, to_abi(l.plugin), to_abi(l.name), to_abi(l.help), l.bound, value};
  return true;
}

namespace {

std::int32_t define(const portico_host* h, std::int32_t kind, const char* name, const char* help,
                    const std::int64_t* bounds, std::size_t bound_count, portico_metric** out) noexcept {
  constexpr const char* function = "portico.stats/1 define";
  if (!in_start(h, function)) return PORTICO_E_STATE;
  instance& i = of(h);
  try {
    if (!out) return i.fault(function, "out is NULL", PORTICO_E_ARGUMENT);
    std::string why;
    const std::int32_t rc = i.server.statistics->define(i, kind, name, help, bounds, bound_count, out, &why);
    return rc < 0 ? i.fault(function, why, rc) : rc;
  } catch (...) {
    return PORTICO_E_FAILED;
  }
}

void record(portico_metric* m, std::int64_t value) noexcept {
  if (!m || (m->kind == PORTICO_COUNTER && value < 0)) return;
  const loop_state* const l = m->server.here();
  std::atomic<std::int64_t>* const mine = m->cells.get() + (l ? l->index : m->copies - 1) * m->stride;
  if (m->kind != PORTICO_HISTOGRAM) {
    mine[0].fetch_add(value, std::memory_order_relaxed);
    return;
  }
  const auto bound = std::lower_bound(m->bounds.begin(), m->bounds.end(), value);
  mine[bound - m->bounds.begin()].fetch_add(1, std::memory_order_relaxed);
  mine[m->bounds.size() + 1].fetch_add(value, std::memory_order_relaxed);
}

std::int32_t read(const portico_host* h, std::uint32_t index, portico_stat* out) noexcept {
  instance& i = of(h);
  try {
    if (!out || out->struct_size < oldest_stat)
      return i.fault("portico.stats/1 read", "out is NULL or its struct_size is too small", PORTICO_E_ARGUMENT);
    return i.server.statistics->read(index, out) ? PORTICO_OK : PORTICO_E_ABSENT;
  } catch (...) {
    return PORTICO_E_FAILED;
  }
}

}  // namespace

const portico_stats stats_table = {sizeof(portico_stats), 0, &define, &record, &read};

}  // namespace portico::plugin
