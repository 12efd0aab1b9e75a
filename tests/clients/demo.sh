#!/bin/bash
# The demo: ComfyUI's default workflow through a running portico, by the Python SDK, to a picture on the disk.
# usage: demo.sh BUILD_DIR [PICTURE.png]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${1:?usage: demo.sh BUILD_DIR [PICTURE.png]}
picture=${2:-portico-demo.png}
python=$here/../../.deps/python/bin/python
if [[ ! -x $python ]] || ! "$python" -c 'import comfy_sdk' 2>/dev/null; then
  echo "SKIP: the Python client is not installed in .deps; ./dev deps installs it"
  exit 77
fi
exec "$python" -B "$here/demo.py" "$build" "$picture"
