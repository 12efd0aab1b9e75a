// plugins/jobs/rejection.hpp - ComfyUI's refusal of a workflow as the client is told of it.
#pragma once
#include <string_view>

#include <portico/response.hpp>

namespace jobs {

// 422 invalid_workflow with ComfyUI's own message and its errors node by node, whatever shape its answer has.
portico::http_error read_rejection(int upstream_status, std::string_view body);

}  // namespace jobs
