#include "plugins/job_store_sqlite/store.hpp"

#include <Poco/Exception.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <utility>

#include "plugins/job_store_sqlite/import.hpp"

namespace job_store {
namespace {

using portico::task;

durability durability_of(std::string_view text) {
  if (text == "full") return durability::full;
  if (text == "normal") return durability::normal;
  throw std::runtime_error("durability \"" + std::string(text) + "\": allowed are full and normal");
}

// What a function of the table does, with errors as codes.
template <class F>
int32_t coded(const portico::host& h, F&& f) noexcept {
  try {
    f();
    return PORTICO_OK;
  } catch (const Poco::Exception& e) {
    h.log(portico::level::error, "cannot be read: " + e.displayText());
  } catch (const std::exception& e) {
    h.log(portico::level::error, e.what());
  }
  return PORTICO_E_FAILED;
}

}  // namespace

store::store(portico::host h)
    : plugin(h), folder_(h.text("directory")), durability_(durability_of(h.text("durability"))) {
  if (folder_.empty())
    throw std::runtime_error("directory is not set; give the folder that the store is kept in, or --state-dir DIR");
}

void store::start() {
  owner_.emplace(folder_);
  Poco::Data::Session session =
      open_store(folder_, durability_, [this](const std::string& text) { server().log(portico::level::error, text); });
  const std::string taken_from(server().text("import_state"));
  if (!taken_from.empty()) server().log(portico::level::info, import_state(session, folder_, taken_from, now_us()));
  const auto retention = std::chrono::microseconds(server().duration("retention")).count();
  writer_.emplace(server(), std::move(session), retention);
  readers_.emplace(file_in(folder_), durability_);
  portico::publish(server(), PORTICO_STORE, table, this);
  if (taken_from.empty()) spawn(check_whole_file());  // else it ends at once, most likely
}

// A million jobs take seconds to look through, so nobody waits for it.
task<> store::check_whole_file() {
  std::string damage;
  auto look = [&] { readers_->with([&](Poco::Data::Session& s) { damage = damage_of(s); }); };
  try {
    co_await portico::work(server(), look);
  } catch (const Poco::Exception& e) {
    damage = e.displayText();
  }
  if (!damage.empty())
    server().log(portico::level::error, file_in(folder_) + ": is damaged (" + damage +
                                            "); stop portico, move the file away or restore a copy, and start again");
}

task<> store::find(job_id id, bool with_graph, store_see_job see, void* seen) {
  std::optional<job_record> found;
  auto look = [&] {
    readers_->with(
        [&](Poco::Data::Session& s) { find_job(s, id, with_graph, [&](const job_record& j) { found = j; }); });
  };
  try {
    co_await portico::work(server(), look);
  } catch (const Poco::Exception& e) {
    throw std::runtime_error("a job cannot be read: " + e.displayText());
  }
  if (!found) co_return;
  const store_job shown = found->view();
  see(seen, &shown);
}

task<> store::list(store_query query, store_see_job see, void* seen) {
  std::vector<job_record> found;
  auto look = [&] {
    readers_->with(
        [&](Poco::Data::Session& s) { list_jobs(s, query, [&](const job_record& j) { found.push_back(j); }); });
  };
  try {
    co_await portico::work(server(), look);
  } catch (const Poco::Exception& e) {
    throw std::runtime_error("jobs cannot be listed: " + e.displayText());
  }
  for (const job_record& j : found) {
    const store_job shown = j.view();
    see(seen, &shown);
  }
}

int32_t PORTICO_CALL store::do_value(void* self, portico_str name, char* out, size_t size) noexcept {
  auto& me = *static_cast<store*>(self);
  return coded(me.server(), [&] {
    me.readers_->with([&](Poco::Data::Session& s) {
      const std::string stored = value_of(s, std::string(portico::view(name)), std::string(out, size));
      if (stored.size() != size) throw std::runtime_error("a stored value has another size than was asked for");
      stored.copy(out, size);
    });
  });
}

int32_t PORTICO_CALL store::do_open_jobs(void* self, store_see_job see, void* user) noexcept {
  auto& me = *static_cast<store*>(self);
  return coded(me.server(), [&] {
    me.readers_->with([&](Poco::Data::Session& s) {
      open_jobs(s, [&](const job_record& j) {
        const store_job shown = j.view();
        see(user, &shown);
      });
    });
  });
}

int32_t PORTICO_CALL store::do_last_created(void* self, int64_t* out) noexcept {
  auto& me = *static_cast<store*>(self);
  return coded(me.server(), [&] { me.readers_->with([&](Poco::Data::Session& s) { *out = last_created(s); }); });
}

int32_t PORTICO_CALL store::do_all_assets(void* self, store_see_asset see, void* user) noexcept {
  auto& me = *static_cast<store*>(self);
  return coded(me.server(), [&] {
    me.readers_->with([&](Poco::Data::Session& s) {
      all_assets(s, now_us(), [&](const asset_record& a) {
        const store_asset shown = a.view();
        see(user, &shown);
      });
    });
  });
}

// make() gives what the writer is to do; it copies what was handed over, and so may throw.
template <class F>
int32_t store::write(void* self, portico_done done, void* user, F make) noexcept {
  auto& me = *static_cast<store*>(self);
  return coded(me.server(), [&] { me.writer_->add(make(), done, user); });
}

int32_t PORTICO_CALL store::do_submit(void* self, const store_job* j, portico_str key, portico_done done,
                                      void* user) noexcept {
  return write(self, done, user, [&] {
    return [record = std::make_shared<const job_record>(*j), key = std::string(portico::view(key))](writes& w) {
      return w.submit(*record, key) ? PORTICO_OK : PORTICO_E_STATE;
    };
  });
}

int32_t PORTICO_CALL store::do_accepted(void* self, const uint8_t* id) noexcept {
  return write(self, nullptr, nullptr,
               [&] { return [id = id_of(id)](writes& w) { return w.accepted(id), PORTICO_OK; }; });
}

int32_t PORTICO_CALL store::do_removed(void* self, const uint8_t* id, int32_t keep_key, portico_done done,
                                       void* user) noexcept {
  return write(self, done, user, [&] {
    return [id = id_of(id), keep = keep_key != 0](writes& w) { return w.removed(id, keep), PORTICO_OK; };
  });
}

int32_t PORTICO_CALL store::do_ended(void* self, const store_job* j, portico_done done, void* user) noexcept {
  return write(self, done, user, [&] {
    return [record = std::make_shared<const job_record>(*j)](writes& w) { return w.ended(*record), PORTICO_OK; };
  });
}

int32_t PORTICO_CALL store::do_find(void* self, const uint8_t* id, int32_t with_graph, store_see_job see, void* seen,
                                    portico_done done, void* user) noexcept {
  auto& me = *static_cast<store*>(self);
  return portico::answer(me.server(), me.find(id_of(id), with_graph != 0, see, seen), done, user);
}

int32_t PORTICO_CALL store::do_list(void* self, const store_query* query, store_see_job see, void* seen,
                                    portico_done done, void* user) noexcept {
  auto& me = *static_cast<store*>(self);
  return portico::answer(me.server(), me.list(*query, see, seen), done, user);
}

int32_t PORTICO_CALL store::do_put_asset(void* self, const store_asset* a, portico_done done, void* user) noexcept {
  return write(self, done, user, [&] {
    return [record = std::make_shared<const asset_record>(*a)](writes& w) { return w.put(*record), PORTICO_OK; };
  });
}

int32_t PORTICO_CALL store::do_remove_asset(void* self, portico_str id, portico_done done, void* user) noexcept {
  return write(self, done, user, [&] {
    return [id = std::string(portico::view(id))](writes& w) { return w.remove_asset(id), PORTICO_OK; };
  });
}

const portico_store store::table = {sizeof(portico_store),   0,
                                    &store::do_value,        &store::do_open_jobs,
                                    &store::do_last_created, &store::do_all_assets,
                                    &store::do_submit,       &store::do_accepted,
                                    &store::do_removed,      &store::do_ended,
                                    &store::do_find,         &store::do_list,
                                    &store::do_put_asset,    &store::do_remove_asset};

}  // namespace job_store
