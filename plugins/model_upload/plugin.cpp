#include "plugins/model_upload/model_upload.hpp"

PORTICO_PLUGIN(portico::model_upload::model_upload, "model_upload", "0.1.0",
               "Checks uploaded models and puts them into ComfyUI's models folder on this machine.",
               portico::path("base_dir", "",
                             "ComfyUI's own folder: the one that holds models. Unset: no model is taken."),
               portico::flag("follow_category_links", "no",
                             "Place models also where a folder such as models/checkpoints is a symbolic link."))
