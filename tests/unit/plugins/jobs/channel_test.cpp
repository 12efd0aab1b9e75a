#include "plugins/jobs/channel.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using jobs::channel;
using jobs::make_event;

namespace {

std::vector<std::pair<portico_fn, void*>> posted;

int32_t PORTICO_CALL post(const portico_host*, uint32_t, portico_fn fn, void* user) {
  posted.emplace_back(fn, user);
  return PORTICO_OK;
}
const void* PORTICO_CALL find(const portico_host*, const char*) { return nullptr; }

void run_posted() {
  for (const auto& [fn, user] : std::exchange(posted, {})) fn(user);
}

// One subscriber: what it was told, and how its last wait ended.
struct subscriber {
  int32_t next() { return events->next(&give, this, &out, &done, this); }
  static void give(void* self, comfy_event*, const jobs::event& e) {
    static_cast<subscriber*>(self)->told += *e.text + " ";
  }
  static void PORTICO_CALL done(void* self, int32_t status) { static_cast<subscriber*>(self)->last = status; }

  static portico_host bare() {
    portico_host h{};
    h.post = &post;
    h.find = &find;
    return h;
  }
  portico_host raw = bare();
  portico::host host{&raw};
  std::shared_ptr<channel> events = std::make_shared<channel>(host, 0);
  comfy_event out{};
  std::string told;
  int32_t last = 99;
};

}  // namespace

TEST_CASE("what is here is given at once, the oldest first, and the newest of progress and preview only") {
  subscriber s;
  s.events->put(make_event(COMFY_EVENT_STATUS, "s1"));
  s.events->put(make_event(COMFY_EVENT_PROGRESS, "p1"));
  s.events->put(make_event(COMFY_EVENT_OUTPUT, "o1"));
  s.events->put(make_event(COMFY_EVENT_PREVIEW, "v1"));
  s.events->put(make_event(COMFY_EVENT_PROGRESS, "p2"));
  s.events->put(make_event(COMFY_EVENT_OUTPUT, "o2"));
  while (s.next() == PORTICO_READY) {
  }
  CHECK(s.told == "s1 o1 v1 p2 o2 ");
  CHECK(s.next() == PORTICO_E_STATE);
}

TEST_CASE("after the last status there is nothing") {
  subscriber s;
  s.events->put(make_event(COMFY_EVENT_STATUS, "end", true));
  s.events->put(make_event(COMFY_EVENT_OUTPUT, "late"));
  CHECK(s.next() == PORTICO_READY);
  CHECK(s.next() == PORTICO_E_CLOSED);
  CHECK(s.told == "end ");
}

TEST_CASE("a wait ends with the next event") {
  subscriber s;
  CHECK(s.next() == PORTICO_OK);
  CHECK(s.events->pending());
  s.events->put(make_event(COMFY_EVENT_STATUS, "s"));
  CHECK(s.last == PORTICO_OK);
  CHECK_FALSE(s.events->pending());
}

TEST_CASE("a cancel ends the wait later, never from inside") {
  subscriber s;
  CHECK(s.events->cancel() == PORTICO_E_STATE);
  s.next();
  CHECK(s.events->cancel() == PORTICO_OK);
  CHECK(s.last == 99);
  run_posted();
  CHECK(s.last == PORTICO_E_CANCELLED);
}

TEST_CASE("a cancel that comes behind an event does not end the wait after it") {
  subscriber s;
  s.next();
  s.events->cancel();
  s.events->put(make_event(COMFY_EVENT_STATUS, "s"));
  CHECK(s.last == PORTICO_OK);
  s.last = 99;
  s.next();
  run_posted();
  CHECK(s.last == 99);
  CHECK(s.events->pending());
}

TEST_CASE("one who has left is told nothing more") {
  subscriber s;
  s.events->leave();
  s.events->put(make_event(COMFY_EVENT_STATUS, "s"));
  CHECK(s.told.empty());
  CHECK(s.next() == PORTICO_OK);
}
