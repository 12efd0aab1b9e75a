#include "core/upstream/resolver.hpp"

#include <algorithm>
#include <utility>

namespace portico::upstream {

struct resolver::entry {
  explicit entry(loop::event_loop& on, std::string name)
      : loop(on),
        host(std::move(name)),
        again(
            on, [](void* self) { static_cast<entry*>(self)->tell(); }, this) {}
  entry(const entry&) = delete;
  entry& operator=(const entry&) = delete;

  loop::event_loop& loop;
  const std::string host;
  std::vector<address> found;  // the pool writes these two while the job runs
  std::string error;
  loop::clock::time_point until{};
  query* waiting = nullptr;
  bool running = false, telling = false, orphan = false;
  loop::job work{[](void* self) { static_cast<entry*>(self)->look(); },
                 [](void* self, base::status s) { static_cast<entry*>(self)->done(s); }, this};
  loop::timer again;  // tells a failure to run the job, later

  bool known() const noexcept { return !running && loop.now() < until; }

  void look() { found = look_up(host, &error); }

  void start(loop::workers& pool) {
    found.clear();
    error.clear();
    const base::status s = pool.run(work);
    if (s == base::ok) {
      running = true;
      return;
    }
    error = "too many name lookups are under way";
    again.start(std::chrono::milliseconds(0));
  }

  void done(base::status s) {
    running = false;
    if (orphan) {
      delete this;
      return;
    }
    if (s != base::ok) found.clear(), error = "the lookup failed";
    until = loop.now() + (found.empty() ? kept_failure : kept);
    tell();
  }

  void tell() {
    // Those who ask again while they are told wait for the next answer.
    telling = true;
    query* told = std::exchange(waiting, nullptr);
    if (told) told->before_ = &told;
    while (query* const q = told) {
      q->forget();
      q->on_addresses(found, error);
    }
    telling = false;
  }
};

void resolver::query::forget() noexcept {
  if (!before_) return;
  *before_ = next_;
  if (next_) next_->before_ = before_;
  before_ = nullptr;
  next_ = nullptr;
}

resolver::resolver(loop::event_loop& l, loop::workers& pool) : loop_(l), workers_(pool) {}

resolver::~resolver() {
  for (std::unique_ptr<entry>& e : entries_) {
    while (e->waiting) e->waiting->forget();
    if (!e->running) continue;
    e->orphan = true;  // the pool still writes to it: its job's end deletes it
    workers_.cancel(e.release()->work);
  }
}

resolver::entry* resolver::find(std::string_view host) {
  const auto at = std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e->host == host; });
  if (at != entries_.end()) return at->get();
  // Upstreams are few; whatever a plugin makes up is forgotten when it is old.
  constexpr std::size_t many = 64;
  if (entries_.size() >= many)
    std::erase_if(entries_, [](const auto& e) { return !e->running && !e->waiting && !e->telling && !e->known(); });
  return entries_.emplace_back(std::make_unique<entry>(loop_, std::string(host))).get();
}

const std::vector<address>* resolver::ask(std::string_view host, query& q) {
  entry* const e = find(host);
  if (e->known() && !e->found.empty()) return &e->found;
  q.forget();
  q.next_ = e->waiting;
  q.before_ = &e->waiting;
  if (q.next_) q.next_->before_ = &q.next_;
  e->waiting = &q;
  if (e->known())
    e->again.start(std::chrono::milliseconds(0));
  else if (!e->running && !e->again.pending())
    e->start(workers_);
  return nullptr;
}

}  // namespace portico::upstream
