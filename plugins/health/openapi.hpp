// plugins/health/openapi.hpp - the description of the API that is served beside health; docs/openapi.yaml, word for
// word.
#pragma once
#include <string_view>

namespace portico::health {

extern const std::string_view openapi_document;  // UTF-8
extern const std::string_view openapi_etag;      // with its quotes; another text has another

}  // namespace portico::health
