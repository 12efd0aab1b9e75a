#include "core/plugin/order.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "core/plugin/manager.hpp"

namespace portico::plugin {
namespace {

struct problem {
  std::size_t culprit;  // who may be left out for it, if optional
  std::string text;
};

class orderer {
 public:
  explicit orderer(std::span<const member> all) : all_(all), left_out_(all.size()) {}

  start_order order(const std::function<void(const std::string&)>& warn) {
    while (const auto p = attempt()) {
      if (!all_[p->culprit].optional) throw refusal(p->text);
      left_out_[p->culprit] = true;
      warn(p->text);
    }
    return std::move(out_);
  }

 private:
  // One try with those not left out; what is in its way, if anything.
  std::optional<problem> attempt() {
    out_ = {{}, std::vector<std::vector<std::size_t>>(all_.size())};
    providers_.clear();
    seen_.assign(all_.size(), stage::untouched);
    path_.clear();
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (!left_out_[i])
        if (auto p = enter_services(i)) return p;
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (!left_out_[i])
        if (auto p = visit(i)) return p;
    return std::nullopt;
  }

  std::optional<problem> enter_services(std::size_t i) {
    for (const std::string& id : all_[i].provides) {
      const auto [at, fresh] = providers_.emplace(id, i);
      if (!fresh)
        return problem{i, all_[i].subject + " provides the service " + id + ", which \"" + all_[at->second].name +
                              "\" provides already; enable one of the two"};
    }
    return std::nullopt;
  }

  std::optional<problem> visit(std::size_t i) {
    if (seen_[i] == stage::placed) return std::nullopt;
    if (seen_[i] == stage::on_path) return cycle_at(i);
    seen_[i] = stage::on_path;
    path_.push_back(i);
    for (const auto* list : {&all_[i].needs, &all_[i].uses})
      for (const std::string& id : *list) {
        const auto provider = providers_.find(id);
        if (provider == providers_.end()) {
          if (list == &all_[i].uses) continue;
          return problem{i, all_[i].subject + " needs the service " + id +
                                ", which no enabled plugin provides; enable one that does"};
        }
        if (auto p = visit(provider->second)) return p;
        auto& users = out_.users[provider->second];
        if (std::find(users.begin(), users.end(), i) == users.end()) users.push_back(i);
      }
    path_.pop_back();
    seen_[i] = stage::placed;
    out_.sequence.push_back(i);
    return std::nullopt;
  }

  // The path from i to here leads back to i.
  problem cycle_at(std::size_t i) const {
    const auto begin = std::find(path_.begin(), path_.end(), i);
    std::string text;
    std::size_t culprit = i;
    for (auto at = begin; at != path_.end(); ++at) {
      text += all_[*at].name + " → ";
      if (all_[*at].optional) culprit = *at;
    }
    return {culprit,
            all_[i].subject + " is in a cycle of services: " + text + all_[i].name + "; one of them must do without"};
  }

  enum class stage { untouched, on_path, placed };
  std::span<const member> all_;
  std::vector<bool> left_out_;
  std::map<std::string, std::size_t> providers_;
  std::vector<stage> seen_;
  std::vector<std::size_t> path_;
  start_order out_;
};

}  // namespace

start_order order_by_services(std::span<const member> all, const std::function<void(const std::string&)>& warn) {
  return orderer(all).order(warn);
}

}  // namespace portico::plugin
