// plugins/job_store_sqlite/readers.hpp - connections that only read, as many as are used at one time.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "plugins/job_store_sqlite/database.hpp"

namespace job_store {

// Any thread.
class readers {
 public:
  readers(std::string file, durability d) : file_(std::move(file)), durability_(d) {}

  // Calls f with a connection that nobody else uses meanwhile.  May block.  Throws what f throws, and Poco::Exception.
  template <class F>
  void with(F&& f) {
    std::unique_ptr<Poco::Data::Session> session = take();
    f(*session);
    const std::lock_guard lock(guard_);
    idle_.push_back(std::move(session));
  }

 private:
  std::unique_ptr<Poco::Data::Session> take() {
    {
      const std::lock_guard lock(guard_);
      if (!idle_.empty()) {
        auto session = std::move(idle_.back());
        idle_.pop_back();
        return session;
      }
    }
    return std::make_unique<Poco::Data::Session>(connect(file_, durability_));
  }

  const std::string file_;
  const durability durability_;
  std::mutex guard_;
  std::vector<std::unique_ptr<Poco::Data::Session>> idle_;
};

}  // namespace job_store
