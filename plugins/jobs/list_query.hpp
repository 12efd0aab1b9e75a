// plugins/jobs/list_query.hpp - what GET /api/v2/jobs was asked for.
#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

#include "plugins/jobs/history.hpp"

namespace jobs {

struct list_query {
  std::size_t limit = 50;
  std::vector<status> wanted;  // empty: all
  bool wants(status s) const noexcept;
};

// limit: 1 to 100; statuses: separated by commas, empty: all.  Throws portico::http_error 400 invalid_request.
list_query read_list_query(std::string_view limit, std::string_view statuses);

// A walk over jobs, newest first, that ends with `limit` found or `most_looked_at` looked at.
inline constexpr std::size_t most_looked_at = 500;

}  // namespace jobs
