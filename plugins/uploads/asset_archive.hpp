// plugins/uploads/asset_archive.hpp - what is kept of assets beyond this process, where a plugin provides
// portico.store/1.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include <portico/sdk.hpp>

#include "plugins/comfy/store.h"
#include "plugins/uploads/asset.hpp"

namespace portico::uploads {

class asset_archive {
 public:
  explicit asset_archive(const host& h) : host_(h) {}
  void connect() { store_ = service<portico_store>(host_, PORTICO_STORE); }
  explicit operator bool() const noexcept { return static_cast<bool>(store_); }

  // In start().  The secret stored, else this one, which is stored then.
  std::string secret(std::string initial) const;
  // In start().  Every asset that lives, oldest first.  Those that share bytes share their blob.
  void each(const std::function<void(asset)>&) const;

  // These come back when it is durable, whether or not the client is still there.  Throws http_error: no space is left
  // (507), it cannot be written (500).
  task<> put(asset_ptr) const;
  task<> remove(std::string id) const;

 private:
  const host& host_;
  service<portico_store> store_;
};

}  // namespace portico::uploads
