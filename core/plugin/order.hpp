// core/plugin/order.hpp - in which order plugins start, from the services they provide, need and use.
#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace portico::plugin {

// A plugin as far as the order is concerned.  subject begins its refusals: `portico.ini:5: plugin "jobs" (/x/jobs.so)`.
struct member {
  std::string name, subject;
  bool optional = false;
  std::vector<std::string> provides, needs, uses;
};

struct start_order {
  std::vector<std::size_t> sequence;            // indices of those that can start, providers before users
  std::vector<std::vector<std::size_t>> users;  // by index: who needs or uses what that one provides
};

// Providers first, else in the given order.  Throws refusal for a service provided twice, one that is needed and not
// provided, and a cycle; an optional plugin that is the reason is left out instead, and its refusal given to warn.
start_order order_by_services(std::span<const member>, const std::function<void(const std::string&)>& warn);

}  // namespace portico::plugin
