#include "plugins/jobs/rejection.hpp"

#include <string>
#include <utility>

#include "plugins/comfy/errors.hpp"
#include "plugins/comfy/json.hpp"

namespace jobs {

namespace json = comfy::json;

portico::http_error read_rejection(int upstream_status, std::string_view body) {
  const json::document d(body, {}, json::dialect::tolerant);
  const json::value error = d.root()["error"], nodes = d.root()["node_errors"];
  std::string message = error.is_string() ? error.text() : error["message"].text();
  if (message.empty()) message = "ComfyUI refused the workflow (" + std::to_string(upstream_status) + ")";
  std::string details = "{\"node_errors\":";
  if (nodes.is_object())
    json::append(details, nodes);
  else
    details += "{}";
  return portico::http_error(422, comfy::code::invalid_workflow, std::move(message), details += '}');
}

}  // namespace jobs
