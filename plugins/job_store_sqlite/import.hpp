// plugins/job_store_sqlite/import.hpp - takes over the state of the reference proxy, comfy-api-proxy 0.1.6.
//
// import_source.hpp: how it is read.  import_asset.hpp: what an asset becomes.  decisions/0091 in docs: what is taken.
#pragma once
#include <Poco/Data/Session.h>

#include <cstdint>
#include <string>

namespace job_store {

// Puts the jobs, keys, assets and the secret of that folder's state.sqlite3 into the store, which is in the folder
// `store_folder`; all of it or nothing.  now: microseconds.  What was done, for the log; nothing is, and that is said,
// when this very state was taken over before.  std::runtime_error, one line: the state cannot be read, a row of it
// makes no sense, the store has jobs or assets already, or it cannot be written.
std::string import_state(Poco::Data::Session& store, const std::string& store_folder, const std::string& folder,
                         std::int64_t now);

}  // namespace job_store
