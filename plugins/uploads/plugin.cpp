#include "plugins/uploads/uploads.hpp"

PORTICO_PLUGIN(
    portico::uploads::uploads, "uploads", "0.1.0", "Serves assets: outputs of jobs, and files that clients upload.",
    portico::upstream("upstream", "comfyui", "The upstream that holds the files and takes uploads."),
    portico::integer("max_upload_mb", "100", "The largest file that may be uploaded, in MiB.", 1, 1 << 24),
    portico::path(
        "base_dir", "",
        "ComfyUI's own folder, if it is on this machine: the one that holds input, output and models. It lets "
        "clients name files that lie there already. Unset: taken from model_upload, where that is enabled."),
    portico::path(
        "spool", "",
        "The folder for uploads on their way. Unset: .portico in base_dir's models folder, so that a model need "
        "not be copied to its place; without one, the system's folder for temporary files."),
    portico::path("secret_file", "",
                  "A file with the secret that signs output ids, made when it is not there. Unset: each start draws a "
                  "new secret, and the output ids handed out before end with the old one."))
