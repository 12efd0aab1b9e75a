#include "core/upstream/client_state.hpp"

#include <algorithm>
#include <utility>

#include "core/base/log.hpp"
#include "core/upstream/url.hpp"

namespace portico::upstream {

client_state::client_state(loop::event_loop& l, loop::workers& pool, std::shared_ptr<const std::vector<settings>> named)
    : loop(l),
      upstreams(std::move(named)),
      names(l, pool),
      sweep(
          l, [](void* self) { static_cast<client_state*>(self)->sweep_idle(); }, this) {}

const settings& client_state::settings_for(std::string_view url) const noexcept {
  const settings* best = &defaults;
  if (upstreams)
    for (const settings& s : *upstreams)
      if (is_below(url, s.url) && s.url.size() > best->url.size()) best = &s;
  return *best;
}

origin& client_state::origin_for(std::string_view authority, const settings& s) {
  constexpr std::size_t many = 256;  // upstreams are few; whatever plugins make up must not stay for ever
  auto at = origins.find(authority);
  if (at == origins.end()) {
    if (origins.size() >= many)
      std::erase_if(origins, [](const auto& o) { return o.second.users == 0 && o.second.idle.empty(); });
    at = origins.try_emplace(std::string(authority)).first;
    at->second.name = authority;
  }
  origin& o = at->second;
  o.max_idle = s.max_idle;
  o.keep_idle = s.keep_idle;
  return o;
}

std::unique_ptr<connection> client_state::take_idle(origin& at, bool certain) {
  while (!at.idle.empty()) {
    std::unique_ptr<connection> c = std::move(at.idle.back());
    at.idle.pop_back();
    idle.drop();
    if (certain && !c->stream().is_quiet()) continue;
    reused.add();
    return c;
  }
  return nullptr;
}

void client_state::keep_idle(std::unique_ptr<connection> c) {
  origin& at = c->home();
  if (ended || at.idle.size() >= at.max_idle) return;
  c->end_use();
  c->idle_since = loop.now();
  if (!sweep.pending()) sweep.start_at(loop.now() + at.keep_idle);
  at.idle.push_back(std::move(c));
  idle.add();
}

void client_state::drop_idle(connection& c) noexcept {
  origin& at = c.home();
  idle.drop();
  std::erase_if(at.idle, [&](const auto& i) { return i.get() == &c; });
}

void client_state::sweep_idle() {
  auto next = loop::clock::time_point::max();
  for (auto& entry : origins) {
    origin& at = entry.second;
    const auto expired = [&](const std::unique_ptr<connection>& c) {
      return c->idle_since + at.keep_idle <= loop.now();
    };
    for (std::size_t dropped = std::erase_if(at.idle, expired); dropped > 0; --dropped) idle.drop();
    // The first is the one that has been idle longest: the last used is taken first.
    if (!at.idle.empty()) next = std::min(next, at.idle.front()->idle_since + at.keep_idle);
  }
  if (next != loop::clock::time_point::max()) sweep.start_at(next);
}

void client_state::reached(origin& at) {
  opened.add();
  if (!std::exchange(at.down, false)) return;
  base::log(base::level::info, "upstream", at.name + ": connected again");
}

void client_state::unreached(origin& at, std::string_view why) {
  if (std::exchange(at.down, true)) return;
  base::log(base::level::warning, "upstream",
            at.name + ": cannot connect (" + std::string(why) +
                "); is the server running there?  Further failures are not logged");
}

void client_state::misunderstood(origin& at, talk how, std::string_view why) {
  if (std::exchange(at.garbled[static_cast<std::size_t>(how)], true)) return;
  base::log(base::level::warning, "upstream",
            at.name + ": an answer of no use: " + std::string(why) +
                "; is it the right server?  Further ones are not logged");
}

void client_state::end() noexcept {
  ended = true;
  sweep.cancel();
  for (auto& [name, at] : origins) {
    for (std::size_t i = at.idle.size(); i > 0; --i) idle.drop();
    at.idle.clear();
  }
  // Each observer lets go of its stream; one that does not would be found again, so each is asked once.
  for (std::size_t left = streams.size; left > 0 && streams.first; --left) streams.first->abandon();
}

}  // namespace portico::upstream
