// core/plugin/handles.hpp - what plugins hold (exchanges, calls, websockets, timers, work), and the handles they know
// it by.
//
// A handle is not an address: it is a number of generation, index and table, so that one used twice, or made up, is
// found out by a comparison instead of a crash.  Objects are recycled, each within its kind and loop, and never freed
// before the manager, so that a request allocates nothing.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/status.hpp"
#include "core/plugin/activity.hpp"

namespace portico::loop {
class event_loop;
}

namespace portico::plugin {

struct loop_state;

enum class kind : std::uint8_t { exchange, call, websocket, timer, work };
inline constexpr std::size_t kinds = 5;
const char* name_of(kind) noexcept;  // "exchange"

class object {
 public:
  object(const object&) = delete;
  object& operator=(const object&) = delete;
  virtual ~object() = default;
  virtual void stop() noexcept = 0;  // on its loop: whatever it waits for completes with cancelled

  std::uint64_t handle() const noexcept;
  kind what() const noexcept { return kind_; }
  instance& owner() const noexcept { return *owner_; }
  loop_state& home() const noexcept { return home_; }
  const label& where() const noexcept { return *where_; }
  bool held() const noexcept { return owner_ != nullptr; }
  object* next_held() const noexcept { return after_; }  // of the same owner on the same loop

 protected:
  object(kind k, loop_state& home) noexcept : home_(home), kind_(k) {}
  loop_state& home_;

 private:
  template <class T>
  friend class recycler;
  friend struct handle_table;
  friend struct instance;
  void hold_for(instance&, const label&) noexcept;
  void let_go() noexcept;
  bool spent() const noexcept;  // its handles are used up: no handle ever means two things

  kind kind_;
  std::uint32_t index_ = 0;
  std::uint64_t generation_ = 1;
  instance* owner_ = nullptr;
  const label* where_ = nullptr;
  object* before_ = nullptr;  // among what its owner holds on this loop
  object* after_ = nullptr;
  object* next_free_ = nullptr;
};

// The objects of one loop by index.  Registered process-wide, so that a handle alone leads here.
struct handle_table {
  explicit handle_table(loop::event_loop&);  // throws refusal when the process has 1023 tables
  ~handle_table();
  handle_table(const handle_table&) = delete;
  handle_table& operator=(const handle_table&) = delete;

  // False: 2^20 objects of this loop are in use.
  bool enter(object&);

  // The object a handle stands for, when it is held and of that kind, and this thread turns its loop; else nullptr.
  // wrong_thread is set when the last is the reason.
  static object* find(std::uint64_t handle, kind, bool* wrong_thread) noexcept;
  // The table of the loop this thread turns; nullptr when there is none.
  static handle_table* here() noexcept;

  loop::event_loop& loop;
  std::uint32_t number;
  std::vector<object*> objects;
  loop_state* state = nullptr;
};

// All objects of one kind on one loop: those in use and those to be used again.
template <class T>
class recycler {
 public:
  explicit recycler(loop_state& home) noexcept : home_(home) {}
  // nullptr: no memory, or too many objects.
  T* take(handle_table& table, instance& owner, const label& where) noexcept {
    if (!free_ && !grow(table)) return nullptr;
    T* const taken = static_cast<T*>(free_);
    free_ = free_->next_free_;
    taken->hold_for(owner, where);
    return taken;
  }
  // The plugin no longer holds it, and it is used again at once.
  void give(T& t) noexcept {
    t.let_go();
    reuse(t);
  }
  // In two steps, for one whose memory is still needed.
  void detach(T& t) noexcept { t.let_go(); }
  void reuse(T& t) noexcept {
    if (t.spent()) return;
    t.next_free_ = free_;
    free_ = &t;
  }

 private:
  bool grow(handle_table& table) noexcept {
    try {
      auto fresh = std::make_unique<T>(home_);
      all_.reserve(all_.size() + 1);
      if (!table.enter(*fresh)) return false;
      reuse(*fresh);
      all_.push_back(std::move(fresh));
      return true;
    } catch (...) {
      return false;
    }
  }
  loop_state& home_;
  object* free_ = nullptr;
  std::vector<std::unique_ptr<T>> all_;
};

}  // namespace portico::plugin
