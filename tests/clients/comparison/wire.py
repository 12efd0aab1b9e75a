"""One request, as a line of a table, and what came back."""
import hashlib
import http.client
import json
import socket
from dataclasses import dataclass, field


@dataclass
class Ask:
    """A request.  {NAME} in target, body and headers stands for what an earlier answer saved, or for {host}, {base} (ComfyUI's
    folder).  body: bytes as they are, text, or what becomes JSON.  save: names for values of the answer, by path.
    knobs: what the stand-in ComfyUI is told before.  wait: until the job of that id has ended, or has that status.
    before: what else is done to the world before.  raw: the whole request instead.  stream: the answer is an event stream,
    read to its end.  meanwhile: what the stand-in is told once the answer has begun.
    compared: no, where the answer depends on the moment."""

    name: str
    method: str = "GET"
    target: str = "/api/v2/health"
    body: object = None
    headers: dict = field(default_factory=dict)
    save: dict = field(default_factory=dict)
    knobs: dict = None
    wait: tuple = None
    before: object = None
    raw: str = None
    stream: bool = False
    meanwhile: dict = None
    compared: bool = True


@dataclass
class Answer:
    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    @property
    def digest(self):
        return f"{len(self.body)} bytes {hashlib.sha256(self.body).hexdigest()[:8]}"


NO_ANSWER = Answer(0, {}, b"")


def filled(text, known):
    for name, value in known.items():
        text = text.replace("{" + name + "}", str(value))
    return text


def encoded(body, known):
    if body is None:
        return None
    if isinstance(body, bytes):
        return body
    return filled(body if isinstance(body, str) else json.dumps(body), known).encode("utf-8", "surrogatepass")


def request_of(ask, known):
    if ask.raw is not None:
        return filled(ask.raw, known).encode("latin-1")
    body = encoded(ask.body, known)
    headers = {"Host": known["host"], "Connection": "close", **ask.headers}
    if body is not None or ask.method == "POST":
        headers.setdefault("Content-Length", str(len(body or b"")))
    lines = [f"{ask.method} {filled(ask.target, known)} HTTP/1.1"]
    lines += [f"{name}: {filled(value, known)}" for name, value in headers.items() if value is not None]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + (body or b"")


def exchange(port, ask, known, begun=None):
    """Sends it and reads the answer to its end; NO_ANSWER when the connection is closed without one.  begun is called when the
    first of its body is there."""
    method = ask.raw.split(" ")[0] if ask.raw else ask.method
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        try:
            connection.sendall(request_of(ask, known))
        except (BrokenPipeError, ConnectionResetError):
            pass  # refused before all was sent
        response = http.client.HTTPResponse(connection, method=method)
        try:
            response.begin()
            body = response.read1() if begun else b""
            if begun:
                begun()
            body += response.read()
        except (http.client.HTTPException, ConnectionResetError):
            return NO_ANSWER
        return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, body)


def at(value, path):
    """The member of a JSON value at "outputs.0.id"."""
    for step in path.split("."):
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def form(*parts, boundary="b"):
    """A multipart body of (name, value) and ("file", bytes, header lines...)."""
    out = b""
    for name, value, *more in parts:
        extra = '; filename="f"' if name == "file" else ""
        out += f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{extra}\r\n'.encode()
        out += b"".join(line.encode() + b"\r\n" for line in more) + b"\r\n"
        out += (value if isinstance(value, bytes) else value.encode()) + b"\r\n"
    return out + f"--{boundary}--\r\n".encode()
