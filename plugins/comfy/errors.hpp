// plugins/comfy/errors.hpp - the error codes of the Comfy API v2 that more than one plugin answers with.
#pragma once

namespace comfy::code {

inline constexpr char invalid_request[] = "invalid_request";
inline constexpr char invalid_workflow[] = "invalid_workflow";
inline constexpr char workflow_format_ui[] = "workflow_format_ui";
inline constexpr char missing_asset[] = "missing_asset";
inline constexpr char idempotency_key_reuse[] = "idempotency_key_reuse";
inline constexpr char queue_full[] = "queue_full";
inline constexpr char too_many_streams[] = "too_many_streams";
inline constexpr char not_found[] = "not_found";
inline constexpr char payload_too_large[] = "payload_too_large";
inline constexpr char upstream_unreachable[] = "upstream_unreachable";
inline constexpr char upstream_error[] = "upstream_error";
inline constexpr char output_unavailable[] = "output_unavailable";
inline constexpr char hash_mismatch[] = "hash_mismatch";
inline constexpr char insufficient_storage[] = "insufficient_storage";
inline constexpr char blob_not_found[] = "blob_not_found";

}  // namespace comfy::code
