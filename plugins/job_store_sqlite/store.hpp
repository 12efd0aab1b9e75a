// plugins/job_store_sqlite/store.hpp - the plugin: portico.store/1 over one SQLite file.
//
// Read plugins/comfy/store.h first: what is promised.  writer.hpp: how a promise is kept.  database.hpp: the file.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <portico/sdk.hpp>

#include "plugins/comfy/store.h"
#include "plugins/job_store_sqlite/owner.hpp"
#include "plugins/job_store_sqlite/readers.hpp"
#include "plugins/job_store_sqlite/writer.hpp"

namespace job_store {

class store final : public portico::plugin {
 public:
  static constexpr const char* provides[] = {PORTICO_STORE, nullptr};

  explicit store(portico::host);
  void start() override;

 private:
  static const portico_store table;

  portico::task<> check_whole_file();
  portico::task<> find(job_id, bool with_graph, store_see_job, void* seen);
  portico::task<> list(store_query, store_see_job, void* seen);

  template <class F>
  static int32_t write(void* self, portico_done, void* user, F make) noexcept;

  // The table's functions.
  static int32_t PORTICO_CALL do_value(void*, portico_str, char*, size_t) noexcept;
  static int32_t PORTICO_CALL do_open_jobs(void*, store_see_job, void*) noexcept;
  static int32_t PORTICO_CALL do_last_created(void*, int64_t*) noexcept;
  static int32_t PORTICO_CALL do_all_assets(void*, store_see_asset, void*) noexcept;
  static int32_t PORTICO_CALL do_submit(void*, const store_job*, portico_str, portico_done, void*) noexcept;
  static int32_t PORTICO_CALL do_accepted(void*, const uint8_t*) noexcept;
  static int32_t PORTICO_CALL do_removed(void*, const uint8_t*, int32_t, portico_done, void*) noexcept;
  static int32_t PORTICO_CALL do_ended(void*, const store_job*, portico_done, void*) noexcept;
  static int32_t PORTICO_CALL do_find(void*, const uint8_t*, int32_t, store_see_job, void*, portico_done,
                                      void*) noexcept;
  static int32_t PORTICO_CALL do_list(void*, const store_query*, store_see_job, void*, portico_done, void*) noexcept;
  static int32_t PORTICO_CALL do_put_asset(void*, const store_asset*, portico_done, void*) noexcept;
  static int32_t PORTICO_CALL do_remove_asset(void*, portico_str, portico_done, void*) noexcept;

  std::string folder_;
  durability durability_;
  std::optional<owner> owner_;
  std::optional<readers> readers_;
  std::optional<writer> writer_;
};

}  // namespace job_store
