// plugins/uploads/on_pool.hpp - work on the pool that waits for its turn when the pool is busy.
#pragma once
#include <portico/sdk.hpp>

namespace portico::uploads {

// Runs f on a pool thread; what it throws is thrown at the co_await.  A transfer of many pieces must not fail because
// the pool's queue is full for a moment: it is tried again for half a minute, then error LIMIT is thrown.  f outlives
// the task.
template <class F>
task<> on_pool(context where, F& f) {
  constexpr int attempts = 3000;
  for (int attempt = 1;; ++attempt) {
    try {
      co_await work(where, [&f] { f(); });
      co_return;
    } catch (const error& e) {
      if (e.code() != PORTICO_E_LIMIT || attempt == attempts) throw;
    }
    co_await sleep(where, std::chrono::milliseconds(10));
  }
}

}  // namespace portico::uploads
