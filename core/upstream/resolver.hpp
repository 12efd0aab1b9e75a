// core/upstream/resolver.hpp - from the name of a host to its addresses, without blocking the loop.
#pragma once
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/loop/loop.hpp"
#include "core/loop/workers.hpp"
#include "core/upstream/dial.hpp"

namespace portico::upstream {

// One per loop.  Names are looked up on the pool and remembered for a few seconds, failures for one; whoever asks for a
// name that is being looked up waits for the same answer.
class resolver {
 public:
  static constexpr std::chrono::seconds kept{5}, kept_failure{1};

  // A wait for an answer.  Destroying it ends the wait.
  class query {
   public:
    query() = default;
    ~query() { forget(); }
    query(const query&) = delete;
    query& operator=(const query&) = delete;
    void forget() noexcept;

   protected:
    // Later, from the loop.  Views are valid during the call.  Empty addresses: error says why.
    virtual void on_addresses(const std::vector<address>&, std::string_view error) noexcept = 0;

   private:
    friend class resolver;
    query** before_ = nullptr;  // what points here
    query* next_ = nullptr;
  };

  resolver(loop::event_loop&, loop::workers&);
  ~resolver();
  resolver(const resolver&) = delete;
  resolver& operator=(const resolver&) = delete;

  // The addresses, when they are known now; they are valid until the loop goes on.  Else nullptr, and q is told.
  const std::vector<address>* ask(std::string_view host, query& q);

 private:
  struct entry;
  entry* find(std::string_view host);
  loop::event_loop& loop_;
  loop::workers& workers_;
  std::vector<std::unique_ptr<entry>> entries_;
};

}  // namespace portico::upstream
