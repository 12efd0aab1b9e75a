"""Requests about what every request passes: routes, methods, tokens, origins, the form of HTTP itself."""
from wire import Ask

ROUTES = ("/api/v2/health", "/api/v2/jobs", "/api/v2/jobs/x", "/api/v2/jobs/x/workflow", "/api/v2/jobs/x/cancel",
          "/api/v2/jobs/x/events", "/api/v2/assets", "/api/v2/assets/from-hash", "/api/v2/assets/from-path",
          "/api/v2/assets/by-hash/x", "/api/v2/assets/x", "/api/v2/assets/x/content")


def routes():
    yield Ask("health")
    yield Ask("health: HEAD", "HEAD")
    for route in ROUTES:
        for method in ("PUT", "PATCH", "DELETE", "FOO"):
            if (route, method) != ("/api/v2/assets/x", "DELETE"):
                yield Ask(f"{method} {route}", method, route)
    for target in ("/", "/api", "/api/v2", "/api/v2/", "/api/v2/none", "/api/v2/health/", "/API/v2/health", "//api/v2/health", "/api/v1/jobs",
                   "/api/v2/jobs/", "/api/v2/assets/", "/api/v2/jobs/x/y", "/api/v2/%68ealth", "/health", "/prompt", "/ws"):
        yield Ask(f"GET {target}", target=target)


def origins():
    for origin in ("http://{host}", "https://{host}", "http://evil.example", "null", "http://localhost:1", "http://ours.example", "x"):
        yield Ask(f"origin {origin}", headers={"Origin": origin})
        yield Ask(f"origin {origin}, a job", "POST", "/api/v2/jobs", "{", headers={"Origin": origin})
        yield Ask(f"preflight from {origin}", "OPTIONS", "/api/v2/jobs", headers={
            "Origin": origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"})
    for host in ("evil.example", "localhost", "127.0.0.1", "[::1]:80", "127.0.0.1:1", "evil.example:80"):
        yield Ask(f"host {host}", headers={"Host": host})
    for site in ("cross-site", "same-site", "same-origin", "none"):
        yield Ask(f"Sec-Fetch-Site {site}", headers={"Sec-Fetch-Site": site})


def shapes_of_http():
    head = "GET /api/v2/health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n"
    for name, raw in (("good", head + "\r\n"), ("HTTP/1.0", "GET /api/v2/health HTTP/1.0\r\n\r\n"),
                      ("no Host", "GET /api/v2/health HTTP/1.1\r\nConnection: close\r\n\r\n"), ("two Hosts", head + "Host: x\r\n\r\n"),
                      ("a blank before the colon", head + "X : y\r\n\r\n"), ("a folded header", head + "X: y\r\n z\r\n\r\n"),
                      ("two lengths", head + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx"),
                      ("length and chunks", head + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
                      ("another coding", head + "Transfer-Encoding: gzip\r\n\r\n"), ("a negative length", head + "Content-Length: -1\r\n\r\n"),
                      ("HTTP/2.0", "GET /api/v2/health HTTP/2.0\r\nHost: {host}\r\n\r\n"),
                      ("a long header", head + "X: " + "y" * 20000 + "\r\n\r\n"),
                      ("an absolute target", "GET http://{host}/api/v2/health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"),
                      ("TRACE", "TRACE /api/v2/health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"),
                      ("a body in chunks", "POST /api/v2/assets/from-hash HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n"
                                           "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n")):
        yield Ask(f"HTTP: {name}", raw=raw)


def tokens():
    """With a token set."""
    for name, headers in (("none", {}), ("right", {"Authorization": "Bearer secret"}), ("wrong", {"Authorization": "Bearer other"}),
                          ("another scheme", {"Authorization": "Basic c2VjcmV0"}), ("small letters", {"Authorization": "bearer secret"}),
                          ("two blanks", {"Authorization": "Bearer  secret"}), ("only the scheme", {"Authorization": "Bearer"}),
                          ("longer", {"Authorization": "Bearer secretx"}), ("in the query", {})):
        query = "?token=secret" if name == "in the query" else ""
        for route in ("/api/v2/health", "/api/v2/jobs", "/api/v2/assets/x", "/api/v2/none", "/none"):
            yield Ask(f"token {name}: {route}", target=route + query, headers=headers)
    yield Ask("token: preflight", "OPTIONS", "/api/v2/jobs", headers={
        "Origin": "http://ours.example", "Access-Control-Request-Method": "POST"})


def down():
    """With a ComfyUI that is not there."""
    unknown = "00000000-0000-4000-8000-000000000000"
    graph = {"workflow": {"1": {"class_type": "A", "inputs": {}}}}
    body = b'--b\r\nContent-Disposition: form-data; name="file_path"\r\n\r\na.txt\r\n' \
           b'--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nx\r\n--b--\r\n'
    return [
        Ask("down: health"), Ask("down: a job", target="/api/v2/jobs/" + unknown), Ask("down: list", target="/api/v2/jobs"),
        Ask("down: submit", "POST", "/api/v2/jobs", graph, headers={"Idempotency-Key": "k"}),
        Ask("down: submit again", "POST", "/api/v2/jobs", graph, headers={"Idempotency-Key": "k"}),
        Ask("down: cancel", "POST", f"/api/v2/jobs/{unknown}/cancel"), Ask("down: events", target=f"/api/v2/jobs/{unknown}/events"),
        Ask("down: upload", "POST", "/api/v2/assets", body, headers={"Content-Type": "multipart/form-data; boundary=b"}),
        Ask("down: from-hash", "POST", "/api/v2/assets/from-hash", {"hash": "blake3:" + "0" * 64}),
    ]


def small():
    """With a limit of 1 MB for uploads."""
    def sized(n):
        return b'--b\r\nContent-Disposition: form-data; name="file_path"\r\n\r\na.bin\r\n' \
               b'--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n' + b"x" * n + b"\r\n--b--\r\n"

    form = {"Content-Type": "multipart/form-data; boundary=b"}
    return [
        Ask("small: exactly the limit", "POST", "/api/v2/assets", sized(1 << 20), headers=form),
        Ask("small: one byte more", "POST", "/api/v2/assets", sized((1 << 20) + 1), headers=form),
        Ask("small: far more", "POST", "/api/v2/assets", sized(5 << 20), headers=form),
        Ask("small: a graph over the limit", "POST", "/api/v2/jobs", '{"workflow":{"a":"' + "x" * (3 << 20) + '"}}'),
        Ask("small: a file of this machine over the limit", "POST", "/api/v2/assets/from-path", {"path": "{base}/input/big.bin"}),
        Ask("small: from-hash over the limit", "POST", "/api/v2/assets/from-hash", '{"hash":"' + "x" * (3 << 20) + '"}'),
    ]


def all_of():
    for part in (routes, origins, shapes_of_http):
        yield from part()
