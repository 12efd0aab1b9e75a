// core/plugin/host_client.hpp - a plugin's call to another server.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include <portico/abi/client.h>

#include "core/plugin/tables.hpp"
#include "core/upstream/client.hpp"

namespace portico::plugin {

class held_exchange;

class held_call final : public object {
 public:
  static constexpr kind its_kind = kind::call;
  explicit held_call(loop_state& home) : object(its_kind, home) {}
  void adopt(std::unique_ptr<upstream::call>);
  void stop() noexcept override { call_->stop(); }

  std::int32_t write(portico_str bytes, portico_done, void* user);
  std::int32_t head(const portico_head** out, portico_done, void* user);
  std::int32_t read(std::size_t max, portico_str* chunk, portico_done, void* user);
  std::int32_t pipe(held_exchange&, bool up, portico_pipe* out, portico_done, void* user);
  std::int32_t close();
  upstream::call& engine() const noexcept { return *call_; }

 private:
  static void write_done(void*, base::status) noexcept;
  static void head_done(void*, base::status) noexcept;
  static void read_done(void*, base::status) noexcept;
  static void pipe_done(void*, base::status) noexcept;
  void call(pending&, base::status) noexcept;
  bool make_head();

  std::unique_ptr<upstream::call> call_;
  const upstream::answer_head* answer_ = nullptr;
  portico_head head_{};
  std::vector<portico_field> fields_;
  std::string_view chunk_;
  upstream::pipe_result piped_;
  const portico_head** head_out_ = nullptr;
  portico_str* read_out_ = nullptr;
  portico_pipe* pipe_out_ = nullptr;
  held_exchange* piped_with_ = nullptr;
  pending writing_, heading_, reading_, piping_;
};

}  // namespace portico::plugin
