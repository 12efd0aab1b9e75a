// core/http/byte_stream.hpp - what is left of a connection once it no longer speaks HTTP: bytes, both ways.
//
// Made by exchange::upgrade for the accepting side; whoever upgrades an upstream connection implements it over that.
// One owner, one loop.
#pragma once
#include <cstddef>
#include <string_view>

#include "core/base/status.hpp"

namespace portico::loop {
class event_loop;
}

namespace portico::http {

class byte_stream {
 public:
  // Told from the loop, never from inside a call of the stream.  It may destroy the stream.
  class observer {
   public:
    virtual void on_bytes() noexcept = 0;    // receive has something: bytes, or the end
    virtual void on_drained() noexcept = 0;  // queued() fell to low_water or below after it was above
    // closed, or timeout: the peer takes no byte.  Only destroy is left.
    virtual void on_lost(base::status) noexcept = 0;

   protected:
    ~observer() = default;
  };

  virtual ~byte_stream() = default;  // closes at once; what is still queued gets a last try, without waiting

  virtual loop::event_loop& home() const noexcept = 0;
  // From now on; nobody is told before.  low_water in bytes, for on_drained.
  virtual void observe(observer&, std::size_t low_water) noexcept = 0;

  // Takes up to size bytes: ready and *got > 0; ok and 0, nothing now: on_bytes comes when there is; closed: the peer
  // sends no more.  Nothing is taken from the socket while nobody receives, beyond one buffer.
  virtual base::status receive(char* to, std::size_t size, std::size_t* got) noexcept = 0;
  // Queues a copy, whatever is queued already; what one turn queues leaves together at its end.  ok or closed.
  virtual base::status send(std::string_view) = 0;
  virtual std::size_t queued() const noexcept = 0;  // bytes not yet taken by the system
  // Says to the peer that nothing more comes, behind what is queued.
  virtual void shut() noexcept = 0;
};

}  // namespace portico::http
