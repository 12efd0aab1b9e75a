#include "plugins/comfyui_standin/validate.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>

#include "plugins/comfyui_standin/nodes.hpp"

namespace standin {
namespace {

// Python gives up at about this many nested calls, and so do we: no graph may use up the stack.
constexpr int max_depth = 300;

struct finding {
  bool sound = true;
  std::vector<json> reasons;  // empty when only a node further up is at fault
};

std::string in_python(const json& value) { return value.is_text() ? '\'' + value.str() + '\'' : value.print(); }

// One walk from the output nodes up their links.
class walk {
 public:
  walk(const json& graph, const std::function<bool(const std::string&)>& image_exists)
      : graph_(graph), image_exists_(image_exists) {}

  const finding& look_at(const std::string& id, int depth = 0) {
    const auto known = found_.find(id);
    if (known != found_.end()) return known->second;
    found_[id] = {false, {}};  // met again on the way up: a cycle
    finding f;
    const json& node = *graph_.find(id);
    const json* inputs = node.find("inputs");
    const node_spec& spec = *find_node(node.find("class_type")->str());
    for (const input_spec& input : spec.inputs) {
      const json* value = inputs && inputs->is_object() ? inputs->find(input.name) : nullptr;
      if (value)
        check(id, input, *value, depth, f);
      else if (input.required)
        f.reasons.push_back(about("required_input_missing", "Required input is missing", input.name, input));
    }
    if (f.reasons.empty() && std::string_view(spec.name) == "LoadImage")
      check_image(*inputs->find("image"), spec.inputs[0], f);
    if (!f.reasons.empty()) f.sound = false;
    return found_[id] = std::move(f);
  }
  const std::map<std::string, finding>& all() const { return found_; }

 private:
  static json about(std::string type, std::string message, std::string details, const input_spec& input) {
    json extra = json::object();
    extra.set("input_name", json::text(input.name));
    return problem(std::move(type), std::move(message), std::move(details), std::move(extra));
  }
  void check(const std::string& id, const input_spec& input, const json& value, int depth, finding& f) {
    const std::string name = input.name;
    if (value.is_array()) return check_link(id, input, value, depth, f);
    const std::string_view type = input.type;
    if (type == "INT" || type == "FLOAT") return check_number(input, value, f);
    if (type == "STRING" || type == "*") return;
    if (type != "COMBO") {
      f.reasons.push_back(about("bad_linked_input",
                                "Bad linked input, must be a length-2 list of [node_id, slot_index]",
                                name + ", received: " + in_python(value), input));
      return;
    }
    const std::string choices = std::string(",") + input.choices + ',';
    if (!value.is_text() || (*input.choices && choices.find(',' + value.str() + ',') == std::string::npos))
      f.reasons.push_back(about("value_not_in_list", "Value not in list",
                                name + ": " + in_python(value) + " not in (list of length " +
                                    std::to_string(std::count(choices.begin(), choices.end(), ',') - 1) + ")",
                                input));
  }
  void check_link(const std::string& id, const input_spec& input, const json& value, int depth, finding& f) {
    const std::optional<link> l = link_of(value);
    if (!l) {
      f.reasons.push_back(about("bad_linked_input",
                                "Bad linked input, must be a length-2 list of [node_id, slot_index]",
                                std::string(input.name) + ", received: " + value.print(), input));
      return;
    }
    const json* other = graph_.find(l->node);
    const node_spec* spec = other ? find_node(other->find("class_type")->str()) : nullptr;
    if (!spec || l->slot >= spec->outputs.size() || depth >= max_depth) {
      f.reasons.push_back(about("exception_during_validation", "Exception when validating node",
                                depth >= max_depth ? "maximum recursion depth exceeded"
                                : spec             ? "tuple index out of range"
                                                   : '\'' + l->node + '\'',
                                input));
      return;
    }
    const std::string given = spec->outputs[l->slot];
    if (given != input.type && std::string_view(input.type) != "*") {
      f.reasons.push_back(about(
          "return_type_mismatch", "Return type mismatch between linked nodes",
          std::string(input.name) + ", received_type(" + given + ") mismatch input_type(" + input.type + ")", input));
      return;
    }
    path_.push_back(id);
    const bool cycle = std::find(path_.begin(), path_.end(), l->node) != path_.end();
    if (cycle)
      f.reasons.push_back(about("exception_during_validation", "Exception when validating node",
                                "Dependency cycle detected at node " + l->node, input));
    else if (!look_at(l->node, depth + 1).sound)
      f.sound = false;
    path_.pop_back();
  }
  static void check_number(const input_spec& input, const json& value, finding& f) {
    double n = value.as_real();
    bool converts = value.is_number() || value.type() == json::kind::boolean;
    if (value.is_text()) {
      char* end = nullptr;
      n = std::strtod(value.str().c_str(), &end);
      converts = !value.str().empty() && !*end;
    } else if (value.type() == json::kind::boolean) {
      n = value.truthy() ? 1 : 0;
    }
    if (!converts)
      f.reasons.push_back(about("invalid_input_type",
                                std::string("Failed to convert an input value to a ") + input.type + " value",
                                std::string(input.name) + ", " + value.print() + ", not a number", input));
    else if (n < input.min)
      f.reasons.push_back(about(
          "value_smaller_than_min",
          "Value " + value.print() + " smaller than min of " + std::to_string(static_cast<std::int64_t>(input.min)),
          input.name, input));
    else if (n > input.max)
      f.reasons.push_back(about("value_bigger_than_max",
                                "Value " + value.print() + " bigger than max of " +
                                    std::to_string(static_cast<std::uint64_t>(std::min(input.max, 9e18))),
                                input.name, input));
  }
  void check_image(const json& value, const input_spec& input, finding& f) const {
    if (value.is_text() && !image_exists_(value.str()))
      f.reasons.push_back(about("custom_validation_failed", "Custom validation failed for node",
                                "image - Invalid image file: " + value.str(), input));
  }
  const json& graph_;
  const std::function<bool(const std::string&)>& image_exists_;
  std::map<std::string, finding> found_;
  std::vector<std::string> path_;
};

// Whether every node has a class this stand-in knows; fills in the outputs among them.
bool classes_are_known(const json& graph, std::vector<std::string>& outputs, json& error) {
  for (const auto& [id, node] : graph.members()) {
    const json* class_type = node.find("class_type");
    const node_spec* spec = class_type && class_type->is_text() ? find_node(class_type->str()) : nullptr;
    if (spec) {
      if (spec->is_output) outputs.push_back(id);
      continue;
    }
    const std::string where = "Node ID '#" + id + '\'';
    if (!class_type) {
      error = problem("invalid_prompt", "Cannot execute because a node is missing the class_type property.", where);
      return false;
    }
    json extra = json::object();
    extra.set("node_id", json::text(id));
    extra.set("class_type", *class_type);
    error = problem("missing_node_type",
                    "Node '" + class_type->str() + "' not found. The custom node may not be installed.", where,
                    std::move(extra));
    return false;
  }
  return true;
}

// Adds what the walk so far found wrong, as errors of which `output` depends on.
void report(json& node_errors, const json& graph, const walk& w, const std::string& output) {
  for (const auto& [id, f] : w.all()) {
    if (f.sound || f.reasons.empty()) continue;
    json reasons = json::array(), dependent = json::array();
    for (const json& r : f.reasons) reasons.push(r);
    if (const json* before = node_errors.find(id)) dependent = *before->find("dependent_outputs");
    bool listed = false;
    for (const json& d : dependent.items()) listed = listed || d.str() == output;
    if (!listed) dependent.push(json::text(output));
    json entry = json::object();
    entry.set("errors", std::move(reasons));
    entry.set("dependent_outputs", std::move(dependent));
    entry.set("class_type", *graph.find(id)->find("class_type"));
    node_errors.set(id, std::move(entry));
  }
}

}  // namespace

json problem(std::string type, std::string message, std::string details, json extra_info) {
  json p = json::object();
  p.set("type", json::text(std::move(type)));
  p.set("message", json::text(std::move(message)));
  p.set("details", json::text(std::move(details)));
  p.set("extra_info", std::move(extra_info));
  return p;
}

verdict validate(const json& graph, const std::function<bool(const std::string&)>& image_exists) {
  verdict v;
  std::vector<std::string> outputs;
  if (!graph.is_object()) {
    v.error = problem("invalid_prompt", "The prompt is not an object.", "");
    return v;
  }
  if (!classes_are_known(graph, outputs, v.error)) return v;
  if (outputs.empty()) {
    v.error = problem("prompt_no_outputs", "Prompt has no outputs", "");
    return v;
  }
  walk w(graph, image_exists);
  std::string details;
  for (const std::string& id : outputs) {
    const finding& f = w.look_at(id);
    if (f.sound) {
      v.targets.push_back(id);
      continue;
    }
    for (const json& r : f.reasons)
      details.append(details.empty() ? "" : "\n")
          .append(r.find("message")->str())
          .append(": ")
          .append(r.find("details")->str());
    report(v.node_errors, graph, w, id);
  }
  v.accepted = !v.targets.empty();
  if (!v.accepted) v.error = problem("prompt_outputs_failed_validation", "Prompt outputs failed validation", details);
  return v;
}

bool is_canonical_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < 36; ++i) {
    const char c = text[i];
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? c != '-' : !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
  }
  return true;
}

}  // namespace standin
