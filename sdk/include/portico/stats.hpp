// portico/stats.hpp - numbers for the operator: define in start(), record and read on any thread.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "host.hpp"

namespace portico {
inline namespace v1 {

// A default-made metric records nothing.
class metric {
 public:
  metric() = default;
  void record(int64_t value = 1) const noexcept {
    if (raw_) api_->record(raw_, value);
  }
  static metric counter(const host& h, const char* name, const char* help) {
    return metric(h, PORTICO_COUNTER, name, help, {});
  }
  static metric gauge(const host& h, const char* name, const char* help) {
    return metric(h, PORTICO_GAUGE, name, help, {});
  }
  static metric histogram(const host& h, const char* name, const char* help, const std::vector<int64_t>& bounds) {
    return metric(h, PORTICO_HISTOGRAM, name, help, bounds);
  }

 private:
  metric(const host& h, int32_t kind, const char* name, const char* help, const std::vector<int64_t>& bounds)
      : api_(&h.stats()) {
    check(api_->define(h.raw(), kind, name, help, bounds.data(), bounds.size(), &raw_));
  }
  const portico_stats* api_ = nullptr;
  portico_metric* raw_ = nullptr;
};

// Calls f(const portico_stat&) for each number of the whole server, core's own under the plugin id "portico".
template <class F>
void for_each_stat(const host& h, F&& f) {
  portico_stat s{};
  for (uint32_t i = 0;; ++i) {
    s.struct_size = sizeof s;
    const int32_t rc = h.stats().read(h.raw(), i, &s);
    if (rc == PORTICO_E_ABSENT) return;
    check(rc);
    f(std::as_const(s));
  }
}

}  // namespace v1
}  // namespace portico
