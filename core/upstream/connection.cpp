#include "core/upstream/connection.hpp"

#include <utility>

#include "core/upstream/client_state.hpp"

namespace portico::upstream {

connection::connection(client_state& client, origin& at, std::unique_ptr<socket_stream> stream)
    : parser(client.limits),
      decoder(client.limits),
      head(client.buffers),
      body(client.buffers),
      client_(client),
      origin_(at),
      stream_(std::move(stream)) {
  client_.open.add();
}

connection::~connection() { drop_stream(); }

void connection::drop_stream() noexcept {
  if (!stream_) return;
  stream_.reset();
  client_.open.drop();
}

void connection::begin_use(connection_user& user) {
  user_ = &user;
  stream_->observe(*this, 0);
}

void connection::end_use() {
  user_ = nullptr;
  used = true;
  parser.reset();
  head.release();
  body.release();
  stream_->listen();
}

void connection::on_bytes() noexcept { user_ ? user_->on_bytes() : client_.drop_idle(*this); }

void connection::on_drained() noexcept {
  if (user_) user_->on_drained();
}

void connection::on_lost(base::status why) noexcept { user_ ? user_->on_lost(why) : client_.drop_idle(*this); }

}  // namespace portico::upstream
