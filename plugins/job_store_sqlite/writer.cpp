#include "plugins/job_store_sqlite/writer.hpp"

#include <Poco/Exception.h>

#include <memory>
#include <string>
#include <utility>

#include "plugins/job_store_sqlite/transaction.hpp"

namespace job_store {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr std::size_t most_together = 512;
constexpr auto sweep_every = 60s;
constexpr auto complain_every = 10s;

std::string text_of(const std::exception& e) {
  const auto* poco = dynamic_cast<const Poco::Exception*>(&e);
  return poco ? poco->displayText() : e.what();
}

struct completion {
  portico_done done;
  void* user;
  std::int32_t status;
  const portico_host* host;
};
void PORTICO_CALL call_done(void* p) {
  const std::unique_ptr<completion> c(static_cast<completion*>(p));
  c->done(c->user, c->status);
  c->host->release(c->host);
}

}  // namespace

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

writer::writer(const portico::host& h, Poco::Data::Session s, std::int64_t retention)
    : host_(h),
      retention_(retention),
      session_(std::move(s)),
      tables_(session_),
      sweep_at_(steady_clock::now() + 1s),
      thread_([this] { run(); }) {}

writer::~writer() {
  {
    const std::lock_guard lock(guard_);
    over_ = true;
  }
  woken_.notify_one();
  thread_.join();
}

void writer::add(action what, portico_done done, void* user) {
  const std::int32_t loop = done ? host_.loop_index() : -1;
  {
    const std::lock_guard lock(guard_);
    waiting_.push_back({std::move(what), done, user, loop});
  }
  if (done) host_.raw()->hold(host_.raw());
  woken_.notify_one();
}

void writer::run() {
  std::unique_lock lock(guard_);
  for (;;) {
    woken_.wait_until(lock, sweep_at_, [this] { return over_ || !waiting_.empty(); });
    if (waiting_.empty() && over_) return;
    batch now;
    while (!waiting_.empty() && now.size() < most_together) {
      now.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    lock.unlock();
    if (!now.empty()) commit(now);
    if (steady_clock::now() >= sweep_at_) sweep();
    lock.lock();
  }
}

// When one of them cannot be written the others do not suffer for it: each is tried for itself.
void writer::commit(batch& all) {
  if (!commit_together(all))
    for (job& j : all) commit_alone(j);
  for (job& j : all) complete(j);
}

bool writer::commit_together(batch& all) {
  try {
    transaction t(session_);
    for (job& j : all) j.status = j.what(tables_);
    t.commit();
    return true;
  } catch (const std::exception& e) {
    if (all.size() == 1) complain(e);
    return false;
  }
}

void writer::commit_alone(job& j) {
  try {
    transaction t(session_);
    j.status = j.what(tables_);
    t.commit();
  } catch (const std::exception& e) {
    j.status = is_disk_full(e) ? PORTICO_E_LIMIT : PORTICO_E_FAILED;
    complain(e);
  }
}

void writer::complete(job& j) {
  if (!j.done) return;
  auto* c = new completion{j.done, j.user, j.status, host_.raw()};
  host_.raw()->post(host_.raw(), static_cast<std::uint32_t>(j.loop), &call_done, c);
}

void writer::sweep() {
  bool more = false;
  try {
    const std::int64_t present = now_us();
    transaction t(session_);
    more = tables_.sweep(present - retention_, present - key_lifetime, present);
    t.commit();
  } catch (const std::exception& e) {
    complain(e);
  }
  sweep_at_ = steady_clock::now() + (more ? std::chrono::steady_clock::duration(50ms) : sweep_every);
}

// A full disk would fill the log as well.
void writer::complain(const std::exception& e) {
  const auto present = steady_clock::now();
  if (complained_at_ != steady_clock::time_point{} && present - complained_at_ < complain_every) return;
  complained_at_ = present;
  host_.log(portico::level::error, "cannot be written: " + text_of(e));
}

}  // namespace job_store
