#include "core/plugin/manager.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/base/log.hpp"
#include "core/config/schema.hpp"
#include "core/plugin/drain.hpp"
#include "core/plugin/host_http.hpp"
#include "core/plugin/host_stats.hpp"
#include "core/plugin/instance.hpp"
#include "core/plugin/keys.hpp"
#include "core/plugin/library.hpp"
#include "core/plugin/order.hpp"
#include "core/plugin/watchdog.hpp"

namespace portico::plugin {
namespace {

// An enabled plugin before anything of it was called.
struct candidate {
  const config::plugin_section* section;
  std::string library;
  described plugin;
  std::map<std::string, key_value, std::less<>> keys;
};

struct candidates {
  std::vector<candidate> all;
  start_order order;
};

void go_on_without(const std::string& why) {
  base::log(base::level::warning, "plugin", why + "; going on without it, as it is optional");
}

std::string subject_of(const config::plugin_section& section, const std::string& library) {
  return section.where + ": plugin \"" + section.name + "\" (" + library + ")";
}

[[noreturn]] void refuse_unknown(const config::settings& all, const config::plugin_section& section) {
  const std::vector<std::string> there = names_in(all.plugin_directory);
  const std::vector<std::string_view> known(there.begin(), there.end());
  throw refusal(section.where + ": there is no plugin \"" + section.name + "\" in " + all.plugin_directory +
                config::suggestion(section.name, known));
}

candidate load_one(const config::settings& all, const config::plugin_section& section) {
  candidate c{&section, library_path(all, section), {}, {}};
  if (section.library.empty() && !is_in_directory(all, section.name)) refuse_unknown(all, section);
  c.plugin = load(c.library, subject_of(section, c.library));
  c.keys = read_keys(all, section, c.plugin);
  return c;
}

// Leaves in the order the plugin of that name, and those whose services it needs or uses.
void keep_only(const std::string& name, candidates& found) {
  std::vector<bool> kept(found.all.size());
  for (auto n = found.order.sequence.rbegin(); n != found.order.sequence.rend(); ++n) {  // users before providers
    const std::vector<std::size_t>& users = found.order.users[*n];
    kept[*n] = found.all[*n].section->name == name ||
               std::any_of(users.begin(), users.end(), [&](std::size_t user) { return kept[user]; });
  }
  std::erase_if(found.order.sequence, [&](std::size_t n) { return !kept[n]; });
}

// All enabled plugins, loaded, checked and ordered; of those only the ones to start.  Throws refusal, with a line for
// each plugin that cannot be used.
candidates load_all(const config::settings& settings) {
  candidates out;
  std::string refusals;
  for (const config::plugin_section& section : settings.plugins) {
    try {
      out.all.push_back(load_one(settings, section));
    } catch (const refusal& why) {
      if (section.optional)
        go_on_without(why.what());
      else
        (refusals += refusals.empty() ? "" : "\n") += why.what();
    }
  }
  if (!refusals.empty()) throw refusal(refusals);
  std::vector<member> members;
  for (const candidate& c : out.all)
    members.push_back({c.section->name, subject_of(*c.section, c.library), c.section->optional, c.plugin.provides,
                       c.plugin.needs, c.plugin.uses});
  out.order = order_by_services(members, &go_on_without);
  if (!settings.only.empty()) keep_only(settings.only, out);
  return out;
}

description describe(const std::string& name, const std::string& library) {
  description d;
  d.name = name;
  d.library = library;
  try {
    const described found = load(library, "it");
    d.id = found.id;
    d.version = found.version;
    d.summary = found.summary;
    d.homepage = found.homepage;
    d.build = found.build;
    d.needs_minor = found.needs_minor;
    d.provides = found.provides;
    d.needs = found.needs;
    d.uses = found.uses;
    d.lists_routes = found.lists_routes;
    d.routes = found.routes;
    for (const declared_key& k : found.keys)
      d.keys.push_back({k.name, std::string(config::kind_name(static_cast<config::kind>(k.type))),
                        k.fallback ? k.fallback : "", k.help, k.fallback == nullptr});
  } catch (const refusal& why) {
    d.error = why.what();
  }
  return d;
}

constexpr const char* threw = "it threw; nothing may leave a callback";

// What a plugin wrote, which may have forgotten its NUL.
std::string words_of(const portico_error& e) {
  const void* const end = std::memchr(e.text, 0, sizeof e.text);
  const std::string words(e.text,
                          end ? static_cast<std::size_t>(static_cast<const char*>(end) - e.text) : sizeof e.text);
  return words.empty() ? "it does not say why" : words;
}

// Why a start() that returned was none; empty if it was one.  Where a plugin only passes on the code of a call that was
// refused, the server's words for that say more than its own.
std::string start_fault(const instance& i, std::int32_t rc, const portico_error& error) {
  if (!i.clash.empty()) return i.clash;
  if (rc < 0) return i.last_fault_code == rc ? i.last_fault : words_of(error);
  for (const std::string& id : i.plugin.provides)
    if (std::find(i.provided.begin(), i.provided.end(), id) == i.provided.end())
      return "it lists the service " + id + " and did not provide it";
  return {};
}

}  // namespace

std::vector<description> describe_all(const config::settings& settings) {
  std::vector<description> out;
  for (const std::string& name : names_in(settings.plugin_directory)) {
    config::plugin_section section;
    section.name = name;
    out.push_back(describe(name, library_path(settings, section)));
  }
  for (const config::plugin_section& section : settings.plugins) {
    const std::string library = library_path(settings, section);
    const auto known = std::find_if(
        out.begin(), out.end(), [&](const description& d) { return d.name == section.name && d.library == library; });
    description& d = known != out.end() ? *known : out.emplace_back(describe(section.name, library));
    d.enabled = true;
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return out;
}

namespace {

// Routes that two plugins list.  Only a warning: a list says what start() may register.
void warn_of_clashes(const candidates& found) {
  http::router routes;
  for (const std::size_t n : found.order.sequence) {
    const candidate& c = found.all[n];
    for (const std::string& listed : c.plugin.routes) {
      const std::size_t blank = std::min(listed.find(' '), listed.size());
      http::route entry;
      entry.method = listed.substr(0, blank);
      entry.pattern = listed.substr(std::min(blank + 1, listed.size()));
      entry.owner = c.section->name;
      if (const std::string problem = routes.add(std::move(entry)); !problem.empty())
        base::log(base::level::warning, "plugin",
                  subject_of(*c.section, c.library) + " will not start if it registers all it lists: " + problem);
    }
  }
}

}  // namespace

void check(const config::settings& settings) { warn_of_clashes(load_all(settings)); }

struct manager::state {
  // The first step for every exchange: filters, then the route.
  struct first_step final : http::handler {
    explicit first_step(server_state& s) : server(s) {}
    void on_exchange(http::exchange& x) noexcept override { dispatch(server.at(x.home()), x, 0); }
    server_state& server;
  };

  state(const config::settings& s, environment e) : server(s, std::move(e)), entry(server), drains(server) {}

  bool create(instance&);
  bool start(instance&);
  bool refused(instance&, const std::string& why);
  void withdraw(instance&);
  void connect_services(const candidates&, const std::vector<instance*>& by_candidate);
  void collect_filters();

  server_state server;
  first_step entry;
  drain drains;
  std::unique_ptr<watchdog> dog;
  bool stopped = false;
};

// False: an optional plugin that goes on without; throws refusal for any other.
bool manager::state::refused(instance& i, const std::string& why) {
  const std::string text = i.subject() + " " + why;
  if (!i.optional) throw refusal(text);
  go_on_without(text);
  return false;
}

bool manager::state::create(instance& i) {
  portico_error error{};
  std::int32_t rc = PORTICO_E_FAILED;
  i.now.store(phase::creating, std::memory_order_relaxed);
  const bool returned =
      cross(server.loops[0]->busy, i.in_create, [&] { rc = i.plugin.table->create(&i.host, &i.self, &error); });
  i.now.store(phase::created, std::memory_order_relaxed);
  if (returned && rc >= 0) return true;
  i.now.store(phase::gone, std::memory_order_relaxed);
  return refused(i, "could not be created: " + (returned ? words_of(error) : threw));
}

bool manager::state::start(instance& i) {
  for (const std::string& id : i.plugin.needs) {
    if (server.services.contains(id)) continue;
    drains.destroy(i);
    return refused(i, "did not start: it needs the service " + id + ", whose provider did not start");
  }
  portico_error error{};
  std::int32_t rc = PORTICO_E_FAILED;
  i.now.store(phase::starting, std::memory_order_relaxed);
  const bool returned = cross(server.loops[0]->busy, i.in_start, [&] { rc = i.plugin.table->start(i.self, &error); });
  const std::string why = returned ? start_fault(i, rc, error) : threw;
  if (why.empty()) {
    i.now.store(phase::running, std::memory_order_relaxed);
    return true;
  }
  withdraw(i);
  drains.retire(i);
  return refused(i, "did not start: " + why);
}

// Nothing of a failed start stays.
void manager::state::withdraw(instance& i) {
  server.env.routes->remove_owner(i.name);
  i.filters.clear();
  std::erase_if(server.services, [&](const auto& e) { return e.second.provider == &i; });
  server.statistics->forget(i);
}

void manager::state::connect_services(const candidates& found, const std::vector<instance*>& by_candidate) {
  for (std::size_t provider = 0; provider < found.all.size(); ++provider)
    for (const std::size_t user : found.order.users[provider])
      if (by_candidate[provider] && by_candidate[user]) by_candidate[user]->providers.push_back(by_candidate[provider]);
}

// In the order of `enabled`, which is not the order of starting.
void manager::state::collect_filters() {
  for (const config::plugin_section& section : server.settings.plugins)
    for (const auto& i : server.instances)
      if (i->name == section.name && i->now.load(std::memory_order_relaxed) == phase::running)
        for (const auto& f : i->filters) server.filters.push_back(f.get());
}

manager::manager(const config::settings& settings, environment env)
    : state_(std::make_unique<state>(settings, std::move(env))) {}

manager::~manager() {
  state_->dog.reset();
  if (!state_->drains.left_any()) return;
  // Code of a plugin may still be on some thread, and it finds everything where it was.
  static auto* const kept = new std::vector<std::unique_ptr<state>>;
  kept->push_back(std::move(state_));
}

void manager::start() {
  state& s = *state_;
  candidates found = load_all(s.server.settings);
  std::vector<instance*> by_candidate(found.all.size());
  for (const std::size_t n : found.order.sequence) {
    candidate& c = found.all[n];
    by_candidate[n] =
        s.server.instances
            .emplace_back(std::make_unique<instance>(s.server, *c.section, c.library, std::move(c.plugin)))
            .get();
    by_candidate[n]->keys = std::move(c.keys);
  }
  s.connect_services(found, by_candidate);
  s.dog = std::make_unique<watchdog>(s.server);
  for (const auto& i : s.server.instances) s.create(*i);
  for (const auto& i : s.server.instances) {
    if (i->now.load(std::memory_order_relaxed) != phase::created) continue;
    s.start(*i);
  }
  s.collect_filters();
  s.server.env.routes->freeze();
}

http::handler& manager::entry() noexcept { return state_->entry; }

void manager::stop(std::chrono::milliseconds patience, std::function<void()> done) {
  state_->drains.stop_all(patience, std::move(done));
}

bool manager::left_alone() const noexcept { return state_->drains.left_any(); }

}  // namespace portico::plugin
