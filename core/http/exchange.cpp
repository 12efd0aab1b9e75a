#include "core/http/exchange.hpp"

#include <cstdio>
#include <utility>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/http/connection.hpp"
#include "core/http/router.hpp"
#include "core/http/syntax.hpp"
#include "core/http/upgraded_stream.hpp"
#include "core/http/writer.hpp"

namespace portico::http {

void exchange::open(const request_head& head, time now, std::int64_t max_body) {
  head_ = &head;
  matched_ = nullptr;
  close_ = gone_ = {};
  max_body_ = max_body;
  body_read_ = 0;
  promised_ = -1;
  written_ = 0;
  ended_ = base::ok;
  started_ = now;
  status_ = 0;
  begun_ = chunked_ = bodyless_ = closed_ = stopped_ = continued_ = sends_file_ = broken_ = false;
  id_ = base::next_request_id();
  scheme_ = "http";
  own_id_.clear(), own_peer_.clear(), token_id_.clear(), added_.clear(), base_url_.clear();
  params_.clear();
}

// ---- what was asked

loop::event_loop& exchange::home() const noexcept { return connection_.shard_.home; }
const request_head& exchange::head() const noexcept { return *head_; }
std::string_view exchange::id() const noexcept { return own_id_.empty() ? id_.text() : std::string_view(own_id_); }
std::string_view exchange::peer() const noexcept {
  return own_peer_.empty() ? connection_.peer_.address() : std::string_view(own_peer_);
}
std::uint32_t exchange::peer_port() const noexcept { return own_peer_.empty() ? connection_.peer_.port : 0; }
std::string_view exchange::scheme() const noexcept { return scheme_; }
std::string_view exchange::token_id() const noexcept { return token_id_; }
const route* exchange::matched() const noexcept { return matched_; }
std::span<const field> exchange::params() const noexcept { return params_; }

std::string_view exchange::base_url() const noexcept {
  if (base_url_.empty()) base_url_.append(scheme()).append("://").append(head_->authority);
  return base_url_;
}

std::int64_t exchange::age() const noexcept {
  return std::chrono::duration_cast<std::chrono::microseconds>(loop::clock::now() - started_).count();
}

void exchange::set_token_id(std::string_view id) { token_id_ = id; }
void exchange::set_base_url(std::string_view url) { base_url_ = url; }
void exchange::set_id(std::string_view id) { own_id_ = id; }
void exchange::set_scheme(std::string_view scheme) { scheme_ = scheme; }
void exchange::set_peer(std::string_view address) { own_peer_ = address; }

void exchange::add_response_header(std::string_view name, std::string_view value) {
  const field f{name, value};
  if (may_send({&f, 1}))
    append_line(added_, name, value);
  else
    base::log(base::level::error, "http", "a header was left out: its name or value cannot be sent");
}

void exchange::set_match(const route* found, std::span<const std::string_view> raw_params) {
  matched_ = found;
  set_max_body(found->max_body);
  params_.clear();
  param_text_.clear();
  // Decoded text is never longer, so nothing moves while views into it are made.
  std::size_t most = 0;
  for (const std::string_view raw : raw_params) most += raw.size();
  param_text_.reserve(most);
  for (std::size_t i = 0; i < raw_params.size() && i < found->param_names.size(); ++i) {
    const std::size_t from = param_text_.size();
    if (!base::percent_decode(raw_params[i], param_text_)) param_text_.append(raw_params[i]);
    params_.push_back({found->param_names[i], std::string_view(param_text_).substr(from)});
  }
}

void exchange::set_max_body(std::int64_t bytes) noexcept {
  max_body_ = bytes < 0 ? connection_.shard_.bounds.max_body : bytes;
}

bool exchange::too_long() const noexcept { return head_->content_length > max_body_; }

// ---- what is pending

bool exchange::begun() const noexcept { return begun_; }
bool exchange::busy() const noexcept { return read_.done || write_.done; }
bool exchange::closed() const noexcept { return closed_ || ended_ == base::closed; }

void exchange::settle(waiter& w, base::status result) noexcept {
  if (!w.done || w.settled) return;
  w.result = result;
  w.settled = true;
  connection_.wake();
}

void exchange::deliver() noexcept {
  if (read_.settled) {
    const waiter w = std::exchange(read_, {});
    if (w.result == base::ok) *chunk_ = piece_;
    w.done(w.user, w.result);
  }
  if (write_.settled) {
    const waiter w = std::exchange(write_, {});
    w.done(w.user, w.result);
  }
  if (gone_.settled) {
    const waiter w = std::exchange(gone_, {});
    w.done(w.user, w.result);
  }
  if (close_.settled) {
    const waiter w = std::exchange(close_, {});
    w.done(w.user, w.result);
  }
}

void exchange::end(base::status reason) noexcept {
  if (ended_ == base::ok) ended_ = reason;
  settle(read_, reason);
  settle(close_, ended_);
  if (reason == base::closed) settle(gone_, reason);
}

void exchange::lost() noexcept {
  closed_ = true;
  sends_file_ = false;
  settle(write_, base::closed);
  end(base::closed);
}

base::status exchange::cancel() {
  break_off();
  settle(read_, base::cancelled);
  settle(write_, base::cancelled);
  return base::ok;
}

void exchange::stop() {
  stopped_ = true;
  break_off();
  settle(write_, base::cancelled);
  end(base::cancelled);
}

base::status exchange::on_close(base::completion fn, void* user) {
  close_ = {fn, user, base::ok, false};
  if (ended_ != base::ok) settle(close_, ended_);
  return base::ok;
}

void exchange::on_gone(base::completion fn, void* user) {
  gone_ = {fn, user, base::ok, false};
  if (closed()) settle(gone_, base::closed);
}

base::status exchange::deadline(std::uint32_t ms) {
  deadline_ = time::max();
  if (ms > 0) connection_.expect_by(deadline_, std::chrono::milliseconds(ms));
  return base::ok;
}

// ---- the body of the request

// What can be said at once; ok: nothing yet.
base::status exchange::take(std::size_t max, std::string_view* chunk) {
  if (too_long() || body_read_ > max_body_) return base::limit;
  *chunk = connection_.body_.take(max == 0 ? SIZE_MAX : max);
  if (connection_.body_.refused()) {
    connection_.refuse_body(connection_.body_.why());
    return base::closed;
  }
  body_read_ += static_cast<std::int64_t>(chunk->size());
  if (body_read_ > max_body_) return base::limit;
  return !chunk->empty() || connection_.body_.complete() ? base::ready : base::ok;
}

base::status exchange::read(std::size_t max, std::string_view* chunk, base::completion done, void* user) {
  if (!chunk || !done) return base::argument;
  if (read_.done) return base::state;
  if (closed_) return base::closed;
  if (const base::status now = take(max, chunk); now != base::ok) return now;
  if (stopped_) return base::cancelled;
  if (connection_.input_ended_) return base::closed;
  if (ended_ == base::timeout) return base::timeout;
  if (head_->expects_continue && !continued_ && !begun_ && connection_.body_.waits_for_first_byte()) {
    continued_ = true;
    connection_.transport_.out().append("HTTP/1.1 100 Continue\r\n\r\n");
    connection_.wake();
  }
  read_ = {done, user, base::ok, false};
  chunk_ = chunk;
  read_max_ = max;
  connection_.expect_by(connection_.body_by_, connection_.shard_.bounds.body_timeout);
  connection_.transport_.resume_reading();
  return base::ok;
}

void exchange::on_body() noexcept {
  const base::status now = take(read_max_, &piece_);
  if (now == base::ok) return;
  connection_.body_by_ = time::max();
  settle(read_, now == base::ready ? base::ok : now);
}

// ---- the response

base::status exchange::begin(int status, std::span<const field> headers, std::int64_t content_length) {
  if (begun_) return base::state;
  if (status < 200 || status > 599 || content_length < -1 || !may_send(headers)) return base::argument;
  if (closed_) return base::closed;
  shard& s = connection_.shard_;
  const bool old = head_->minor_version == 0, never_a_body = status == 204 || status == 304;
  begun_ = true;
  status_ = status;
  bodyless_ = never_a_body || head_->method == "HEAD";
  promised_ = content_length;
  chunked_ = content_length < 0 && !old && !never_a_body;
  // A body that has not come by now may never come, or take long to.
  const bool keep = connection_.parser_.keep_alive() && !s.draining() && connection_.body_.within_reach() &&
                    (content_length >= 0 || chunked_ || never_a_body);
  if (!keep) connection_.close_after_ = true;
  if (s.bounds.server_timing) add_timing();
  response_head head;
  head.status = status;
  head.date = s.date.at(s.home.now());
  head.lines = added_;
  head.request_id = id();
  head.headers = headers;
  head.content_length = never_a_body ? -1 : content_length;
  head.chunked = chunked_;
  // An answer of unknown length may last: those between are told that its connection does, too.
  head.connection = !keep ? "close" : old || chunked_ ? "keep-alive" : "";
  append_head(connection_.transport_.out(), head);
  connection_.wake();
  return base::ok;
}

// Server-Timing as W3C has it, in milliseconds: from the complete head of the request to the head of the answer.
void exchange::add_timing() {
  char text[48];
  std::snprintf(text, sizeof text, "total;dur=%.3f", static_cast<double>(age()) / 1000);
  append_line(added_, "Server-Timing", text);
}

void exchange::send_body(std::string_view bytes) {
  constexpr std::size_t large = 32 * 1024;  // from here on a second copy costs more than a system call
  transport& to = connection_.transport_;
  const chunk_prefix prefix(bytes.size());
  const std::string_view pieces[] = {prefix.view(), bytes, "\r\n"};
  const std::span<const std::string_view> all = chunked_ ? std::span(pieces) : std::span(pieces).subspan(1, 1);
  if (bytes.size() >= large) return to.send(all);
  for (const std::string_view piece : all) to.out().append(piece);
}

base::status exchange::may_write(std::uint64_t size) const noexcept {
  if (!begun_ || write_.done) return base::state;
  if (closed_) return base::closed;
  const bool more_than_promised =
      !bodyless_ && promised_ >= 0 && size > static_cast<std::uint64_t>(promised_) - written_;
  return more_than_promised ? base::argument : base::ok;
}

base::status exchange::write(std::string_view bytes, base::completion done, void* user) {
  if (const base::status s = may_write(bytes.size()); s != base::ok) return s;
  const std::size_t mark = connection_.shard_.bounds.high_water;
  const buffer& out = connection_.transport_.out();
  if (out.size() >= mark) {
    if (!done) return base::limit;
    if (stopped_) return base::cancelled;
  }
  written_ += bytes.size();
  if (!bodyless_ && !bytes.empty()) {
    send_body(bytes);
    connection_.wake();
  }
  if (!done) return base::ok;
  if (out.size() < mark || stopped_) return base::ready;
  write_ = {done, user, base::ok, false};
  return base::ok;
}

base::status exchange::send_file(std::intptr_t file, std::uint64_t offset, std::uint64_t size, base::completion done,
                                 void* user) {
  if (!done) return base::argument;
  if (const base::status s = may_write(size); s != base::ok) return s;
  if (stopped_) return base::cancelled;
  written_ += size;
  if (bodyless_ || size == 0) return base::ready;
  if (chunked_) connection_.transport_.out().append(chunk_prefix(size).view());
  connection_.transport_.send_file(file, offset, size);
  sends_file_ = true;
  write_ = {done, user, base::ok, false};
  connection_.wake();
  return base::ok;
}

void exchange::on_sent() noexcept {
  if (sends_file_) {
    if (connection_.transport_.file_waits()) return;
    sends_file_ = false;
    if (chunked_) connection_.transport_.out().append("\r\n");
  }
  if (connection_.transport_.out().size() < connection_.shard_.bounds.high_water) settle(write_, base::ok);
}

// What is left of a file that is being sent will not be.
void exchange::break_off() noexcept {
  if (!std::exchange(sends_file_, false)) return;
  connection_.transport_.forget_file();
  broken_ = true;
}

// Whether the response can be ended in order.
bool exchange::complete_response() {
  const std::string_view owner = matched_ ? std::string_view(matched_->owner) : "the server";
  if (!begun_) {
    base::log(base::level::error, "http",
              std::string("a request of ").append(owner).append(" was ended without an answer"));
    const std::string body = error_envelope("internal", "internal error");
    const field type{"Content-Type", envelope_type};
    begin(500, {&type, 1}, static_cast<std::int64_t>(body.size()));
    write(body, nullptr, nullptr);
  }
  if (bodyless_) return true;
  if (broken_) return false;
  if (promised_ >= 0 && written_ < static_cast<std::uint64_t>(promised_)) {
    base::log(base::level::error, "http",
              std::string("an answer of ").append(owner).append(" is shorter than it said; the connection is closed"));
    return false;
  }
  if (chunked_) connection_.transport_.out().append(last_chunk);
  return true;
}

base::status exchange::finish() {
  if (busy()) return base::state;
  if (!closed_ && !complete_response())
    connection_.reset_now();
  else
    connection_.give_back();
  return base::ok;
}

base::status exchange::abort() {
  if (busy()) return base::state;
  connection_.reset_now();
  return base::ok;
}

base::status exchange::upgrade(std::string_view protocol, std::span<const field> headers,
                               std::unique_ptr<byte_stream>* out) {
  if (begun_ || busy() || !connection_.body_.complete()) return base::state;
  if (!syntax::is_token(protocol) || !may_send(headers)) return base::argument;
  if (closed_) return base::closed;
  begun_ = true;
  status_ = 101;
  append_line(added_, "Upgrade", protocol);
  shard& s = connection_.shard_;
  response_head head;
  head.status = status_;
  head.date = s.date.at(s.home.now());
  head.lines = added_;
  head.request_id = id();
  head.headers = headers;
  head.connection = "Upgrade";
  append_head(connection_.transport_.out(), head);
  close_ = gone_ = {};
  deadline_ = connection_.body_by_ = time::max();
  auto stream = std::make_unique<upgraded_stream>(connection_);
  connection_.stream_ = stream.get();
  connection_.phase_ = connection::phase::upgraded;
  connection_.wake();
  *out = std::move(stream);
  return base::ok;
}

// ---- whole answers

void answer(exchange& e, int status, std::string_view content_type, std::string_view body,
            std::span<const field> headers) {
  std::vector<field> all;
  std::span<const field> sent = headers;
  const field type{"Content-Type", content_type};
  if (!content_type.empty() && headers.empty()) {
    sent = {&type, 1};
  } else if (!content_type.empty()) {
    all.reserve(headers.size() + 1);
    all.push_back(type);
    all.insert(all.end(), headers.begin(), headers.end());
    sent = all;
  }
  if (e.begin(status, sent, static_cast<std::int64_t>(body.size())) == base::ok) e.write(body, nullptr, nullptr);
  e.finish();
}

void answer_error(exchange& e, int status, std::string_view code, std::string_view message,
                  std::span<const field> headers) {
  answer(e, status, envelope_type, error_envelope(code, message), headers);
}

}  // namespace portico::http
