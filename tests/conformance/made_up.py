"""Lets schemathesis make up requests, good and bad ones, from the description that portico serves, and holds every answer
against it: no server error, and status, content type, headers and body as described.

usage: made_up.py BUILD_DIR [SCHEMATHESIS-ARGUMENT...]
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "clients"))
from servers import Pair  # noqa: E402

CHECKS = ["not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
          "response_schema_conformance"]


def main(build, *more):
    with Pair(build) as pair, tempfile.TemporaryDirectory(prefix="portico-made-up-") as folder:
        # The same requests every time: a failure must come again.  Streams do not end by themselves, so they are left out.
        run = [os.path.join(os.path.dirname(sys.executable), "schemathesis"), "run", pair.portico.url + "/api/v2/openapi.yaml",
               "--checks", ",".join(CHECKS), "--phases", "examples,coverage,fuzzing,stateful", "--max-examples", "60", "--seed", "1",
               "--exclude-path-regex", "/events$", "--request-timeout", "30", "--generation-database", "none", *more]
        done = subprocess.run(run, cwd=folder, stdin=subprocess.DEVNULL, timeout=280, check=False)
        assert done.returncode == 0, f"schemathesis ended with exit code {done.returncode}"
        pair.portico.get("/api/v2/health")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
