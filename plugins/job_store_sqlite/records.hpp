// plugins/job_store_sqlite/records.hpp - jobs and assets on their way between the service's C structs and the tables.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "plugins/comfy/store.h"

namespace job_store {

using job_id = std::array<unsigned char, 16>;

// How long a key stays claimed, in microseconds.
inline constexpr std::int64_t key_lifetime = std::int64_t{24} * 60 * 60 * 1'000'000;

inline job_id id_of(const std::uint8_t bytes[16]) {
  job_id id;
  for (std::size_t i = 0; i < id.size(); ++i) id[i] = bytes[i];
  return id;
}

struct job_record {
  job_record() = default;
  explicit job_record(const store_job&);
  // Borrows from the record.
  store_job view() const;

  job_id id{};
  std::int32_t phase = STORE_SUBMITTING, status = 0;
  std::int64_t created = 0, started = 0;
  std::uint32_t nodes = 0;
  std::optional<std::string> metadata;
  std::optional<std::int32_t> priority;
  std::string graph, text;
};

struct asset_record {
  asset_record() = default;
  explicit asset_record(const store_asset&);
  // Borrows from the record.
  store_asset view() const;

  std::int32_t kind = 0;
  std::string id, hash, content_type, file_path, reference, target, tags, name, subfolder, folder, disk_path;
  std::uint64_t size = 0;
  std::int64_t disk_changed = 0, created = 0, expires = 0;
};

}  // namespace job_store
