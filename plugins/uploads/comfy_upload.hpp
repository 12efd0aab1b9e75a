// plugins/uploads/comfy_upload.hpp - gives a received file to the upstream, as its user interface would.
#pragma once
#include <string>
#include <string_view>

#include <portico/sdk.hpp>

#include "plugins/uploads/names.hpp"
#include "plugins/uploads/received_file.hpp"

namespace portico::uploads {

// Sends the bytes to upstream + /upload/image, as the input file `wanted`, and gives the file as the upstream then
// calls it: another of that name with other content makes it choose a new one.  http_error 500 upstream_error: it could
// not be reached, refused, or gave an answer that names no file.  upstream and file outlive the task.
task<file_ref> send_to_upstream(context, std::string_view upstream, received_file& file, file_ref wanted,
                                std::string content_type);

// The file named by the answer's JSON; name empty: it names none that could be used.
file_ref read_upload_answer(std::string_view json);

// For people: that the upload was refused, and in the upstream's own words why, if they are few.  Paths of its machine
// are left out.
std::string upload_refusal(int status, std::string_view body);

}  // namespace portico::uploads
