#include "core/plugin/drain.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

namespace portico::plugin {

namespace {

constexpr std::chrono::milliseconds first_pause(1), longest_pause(16), retiring_patience(1000);

// Posted to every loop when a plugin begins to go: completes all it waits for there.
void cancel_on(loop_state& l, instance& i) {
  std::vector<std::pair<object*, std::uint64_t>> all;
  for (object* o = i.shards[l.index].first; o; o = o->next_held()) all.emplace_back(o, o->handle());
  for (const auto& [o, handle] : all)
    if (o->held() && o->handle() == handle) o->stop();  // an earlier one's end may have given this one back
}

}  // namespace

// What one plugin still holds, by loop or in sum.
struct holdings {
  std::array<std::size_t, kinds> objects{};
  std::uint64_t holds = 0, releases = 0;
  const label* example = nullptr;

  std::size_t count() const noexcept {
    std::size_t all = 0;
    for (const std::size_t n : objects) all += n;
    return all;
  }
  void add(const holdings& h) noexcept {
    for (std::size_t k = 0; k < kinds; ++k) objects[k] += h.objects[k];
    holds += h.holds;
    releases += h.releases;
    if (!example) example = h.example;
  }
  std::string text() const;
};

std::string holdings::text() const {
  std::string out;
  const auto add = [&out](std::size_t n, const std::string& what) {
    if (!n) return;
    out += (out.empty() ? "" : ", ") + std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  };
  for (std::size_t k = 0; k < kinds; ++k) {
    add(objects[k], name_of(static_cast<kind>(k)));
    if (k == static_cast<std::size_t>(kind::exchange) && objects[k] && example) out += " (" + example->what + ")";
  }
  if (holds > releases) add(static_cast<std::size_t>(holds - releases), "hold");
  return out.empty() ? "nothing that is counted" : out;
}

struct drain::going {
  instance* who;
  loop::clock::time_point since;
  holdings last;
  bool was_empty = false;
  bool swept = false;
};

// One question to all loops.  Each writes its own row; whoever is last sends the answer to loop 0.
struct drain::sweep {
  drain* asker;
  std::vector<instance*> about;
  std::vector<std::vector<holdings>> rows;
  std::atomic<std::size_t> missing;

  sweep(drain& d, std::size_t loops) : asker(&d), rows(loops), missing(loops) {}
};

namespace {

holdings held_on(const loop_state& l, const instance& i) {
  holdings h;
  const auto read = [&h](const shard& s) {
    h.releases += s.releases.load(std::memory_order_acquire);  // before holds: what is released was held before
    h.holds += s.holds.load(std::memory_order_acquire);
  };
  read(i.shards[l.index]);
  if (l.index == 0) read(i.shards[i.server.loops.size()]);
  for (const object* o = i.shards[l.index].first; o; o = o->next_held()) {
    ++h.objects[static_cast<std::size_t>(o->what())];
    if (o->what() == kind::exchange) h.example = &o->where();
  }
  return h;
}

}  // namespace

drain::drain(server_state& s)
    : server_(s), again_(s.loops[0]->loop, &next_sweep, this), deadline_(s.loops[0]->loop, &deadline_passed, this) {}

drain::~drain() {
  if (under_way_) under_way_->asker = nullptr;
}

void drain::retire(instance& i) {
  begin(i, false);
  send_sweep();
}

void drain::stop_all(std::chrono::milliseconds patience, std::function<void()> done) {
  stopping_all_ = true;
  done_ = std::move(done);
  for (const auto& i : server_.instances) {
    const phase p = i->now.load(std::memory_order_relaxed);
    if (p == phase::created) destroy(*i);
    if (p == phase::loaded || p == phase::creating) i->now.store(phase::gone, std::memory_order_relaxed);
  }
  deadline_.start(patience);
  again_.start(std::chrono::milliseconds(0));  // so that done never comes from inside this call
}

void drain::begin(instance& i, bool started) {
  i.now.store(phase::stopping, std::memory_order_relaxed);
  if (started && !cross(server_.loops[0]->busy, i.in_stop, [&] { i.plugin.table->stop(i.self); }))
    i.fault("stop", "it threw; nothing may leave a callback");
  for (const auto& l : server_.loops) l->loop.post([&l = *l, &i] { cancel_on(l, i); });
  going_.push_back(std::make_unique<going>(going{&i, loop::clock::now(), {}, false, false}));
  pause_ = std::chrono::milliseconds(0);
}

void drain::begin_those_without_users() {
  for (auto at = server_.instances.rbegin(); at != server_.instances.rend(); ++at) {
    instance& i = **at;
    if (i.now.load(std::memory_order_relaxed) != phase::running) continue;
    const bool used = std::any_of(server_.instances.begin(), server_.instances.end(), [&](const auto& other) {
      const phase p = other->now.load(std::memory_order_relaxed);
      const bool alive = p == phase::running || p == phase::stopping || p == phase::left;
      return alive && std::find(other->providers.begin(), other->providers.end(), &i) != other->providers.end();
    });
    if (!used) begin(i, true);
  }
}

void drain::send_sweep() {
  if (under_way_ || going_.empty()) return;
  const auto s = std::make_shared<sweep>(*this, server_.loops.size());
  for (const auto& g : going_) s->about.push_back(g->who);
  under_way_ = s;
  for (const auto& l : server_.loops)
    l->loop.post([s, &l = *l, &server = server_] {
      for (const instance* i : s->about) s->rows[l.index].push_back(held_on(l, *i));
      if (s->missing.fetch_sub(1, std::memory_order_acq_rel) == 1) server.loops[0]->loop.post([s] { arrived(s); });
    });
}

void drain::arrived(const std::shared_ptr<sweep>& s) {
  if (!s->asker) return;
  s->asker->under_way_ = nullptr;
  s->asker->judge(*s);
}

void drain::judge(const sweep& s) {
  std::vector<instance*> free;
  for (std::size_t n = 0; n < s.about.size(); ++n) {
    const auto at = std::find_if(going_.begin(), going_.end(), [&](const auto& g) { return g->who == s.about[n]; });
    if (at == going_.end()) continue;  // left in the meantime
    going& g = **at;
    holdings sum;
    for (const auto& row : s.rows) sum.add(row[n]);
    const bool empty = sum.count() == 0 && sum.releases >= sum.holds;
    // Objects only become fewer while a plugin goes.  Holds and releases were read at different moments on different
    // loops, so the releases of one sweep are held against the holds of the next.
    if (g.was_empty && empty && g.last.releases >= sum.holds) {
      free.push_back(g.who);
      going_.erase(at);
      continue;
    }
    pause_ = empty ? std::chrono::milliseconds(0) : pause_;
    g.was_empty = empty;
    g.last = sum;
    g.swept = true;
    if (!stopping_all_ && loop::clock::now() - g.since > retiring_patience) {
      leave(g);
      going_.erase(at);
    }
  }
  for (instance* i : free) destroy(*i);
  const bool waits = std::any_of(going_.begin(), going_.end(), [](const auto& g) { return !g->was_empty; });
  if (!free.empty() || !waits) pause_ = std::chrono::milliseconds(0);
  again_.start(pause_);
  pause_ = std::clamp(pause_ * 2, first_pause, longest_pause);
}

void drain::destroy(instance& i) {
  if (!cross(server_.loops[0]->busy, i.in_destroy, [&] { i.plugin.table->destroy(i.self); }))
    i.fault("destroy", "it threw; nothing may leave a callback");
  i.now.store(phase::gone, std::memory_order_relaxed);
}

void drain::next_sweep(void* self) {
  auto& d = *static_cast<drain*>(self);
  if (d.stopping_all_) d.begin_those_without_users();
  d.send_sweep();
  d.finish_if_over();
}

void drain::deadline_passed(void* self) { static_cast<drain*>(self)->give_up(); }

void drain::leave(going& g) {
  instance& i = *g.who;
  std::string text =
      "did not let go within " +
      std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(loop::clock::now() - g.since).count()) +
      " ms and is left alone: ";
  std::string inside;
  for (const auto& l : server_.loops) {
    const label* const at = l->busy.inside.load(std::memory_order_acquire);
    if (at && at->who == &i)
      inside += (inside.empty() ? "" : ", ") + ("loop " + std::to_string(l->index)) + " is still in its " + at->what;
  }
  i.log(base::level::warning, text + (inside.empty() ? "it still holds " + g.last.text() : inside));
  i.now.store(phase::left, std::memory_order_relaxed);
  left_any_ = true;
}

void drain::give_up() {
  for (const auto& g : going_) leave(*g);
  going_.clear();
  for (const auto& i : server_.instances) {
    if (i->now.load(std::memory_order_relaxed) != phase::running) continue;
    begin(*i, true);  // it is told and its waits end, but who still uses it must find it
    going_.clear();
    i->log(base::level::warning, "is left alone: a plugin that uses its services did not let go");
    i->now.store(phase::left, std::memory_order_relaxed);
    left_any_ = true;
  }
  finish_if_over();
}

void drain::finish_if_over() {
  if (!stopping_all_ || !done_ || !going_.empty()) return;
  const bool all = std::all_of(server_.instances.begin(), server_.instances.end(), [](const auto& i) {
    const phase p = i->now.load(std::memory_order_relaxed);
    return p == phase::gone || p == phase::left;
  });
  if (!all) return;
  again_.cancel();
  deadline_.cancel();
  const auto done = std::exchange(done_, nullptr);
  done();
}

}  // namespace portico::plugin
