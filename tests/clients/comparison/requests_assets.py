"""Requests about assets: uploads, known contents, files of the machine, bytes."""
import comfyui
from wire import Ask, form

ASSETS, FORM = "/api/v2/assets", {"Content-Type": "multipart/form-data; boundary=b"}
UNKNOWN = "00000000-0000-4000-8000-000000000000"
HASH = "blake3:" + "0" * 64


def upload(name, *parts, headers=FORM, **more):
    return Ask("upload: " + name, "POST", ASSETS, form(*parts), headers=headers, **more)


def to(name, path, data=None, **more):
    """Uploads to a path; each name's content is another."""
    return upload(name, ("content_type", "text/plain"), ("file_path", path), ("file", data or name.encode()), **more)


def paths():
    for path in ("plain.txt", "input/sub/x.txt", "input/x.txt", "./dot.txt", "a//b.txt", "input//y.txt", "input/./z.txt", "checkpoints",
                 "models/plain.safetensors", "models/plain.txt", "  blanks.txt  ", "", " ", "/etc/passwd", "\\share\\x", "..", "../x",
                 "input/../../x", "a/../b", "input/", "input", "models/", "models", "configs/x.safetensors", "custom_nodes/x.py",
                 "clip/x.safetensors", "unet/x.safetensors", "output/x.txt", "C:/x.txt", "nul.txt", "x\u0000y", "a\\b.txt",
                 "sub/x.txt", "x" * 250 + ".txt", "x" * 300 + ".txt", "ü/é.txt", "name with blanks.txt", "semi;colon.txt", 'qu"ote.txt',
                 "per%20cent.txt", "line\nbreak.txt", "INPUT/x.txt", "Checkpoints/x.safetensors"):
        yield to(f"path {path[:40]!r}" + (f" of {len(path)}" if len(path) > 40 else ""), path)


def models():
    good = comfyui.model("side")
    for name, path, data in (
            ("a model", "checkpoints/new.safetensors", good), ("the model again", "checkpoints/new.safetensors", good),
            ("the same bytes elsewhere", "loras/new.safetensors", good),
            ("the same place, other bytes", "checkpoints/new.safetensors", comfyui.model("other")),
            ("a file that lies there", "checkpoints/here.safetensors", comfyui.model("third")),
            ("models/ before it", "models/vae/v.safetensors", comfyui.model("vae")),
            ("in a folder", "checkpoints/a/b/c.safetensors", comfyui.model("deep")),
            ("another ending", "checkpoints/x.ckpt", comfyui.model("ckpt")), ("no ending", "checkpoints/x", comfyui.model("none")),
            ("only an ending", "checkpoints/.safetensors", comfyui.model("dot")),
            ("an ending in capitals", "checkpoints/u.SAFETENSORS", comfyui.model("upper")),
            ("too short", "checkpoints/s.safetensors", b"1234"), ("no header", "checkpoints/n.safetensors", bytes(8)),
            ("a header that is too long", "checkpoints/l.safetensors", b"\xff" * 8 + b"{}"),
            ("a header that is no JSON", "checkpoints/j.safetensors", (2).to_bytes(8, "little") + b"{x"),
            ("a header that is a list", "checkpoints/a.safetensors", (2).to_bytes(8, "little") + b"[]"),
            ("an empty header", "checkpoints/e.safetensors", (2).to_bytes(8, "little") + b"{}"),
            ("a tensor without a shape", "checkpoints/t.safetensors", (32).to_bytes(8, "little") + b'{"a":{"dtype":"F32"}}'.ljust(32)),
            ("fewer bytes than tensors need", "checkpoints/f.safetensors", comfyui.model("few")[:-4])):
        yield to("model, " + name, path, data)


def shapes():
    path, file = ("file_path", "shape.txt"), ("file", b"the bytes of a shape")
    yield upload("no file", path)
    yield upload("no file_path", file)
    yield upload("nothing")
    yield upload("the file first", file, path)
    yield upload("no content_type", path, ("file", b"typeless"))
    yield upload("the part's own type", ("file_path", "own.txt"), ("file", b"own type", "Content-Type: text/csv"))
    yield upload("unknown fields", ("color", "blue"), ("file_path", "u.txt"), ("file", b"unknown fields"))
    yield upload("an empty file", ("file_path", "empty.bin"), ("file", b""))
    yield upload("two files", path, file, ("file", b"another"))
    yield upload("two paths", path, ("file_path", "again.txt"), ("file", b"two paths"))
    yield upload("tags", ("tags", "a"), ("tags", "b"), ("file_path", "tags.txt"), ("file", b"tags"))
    for value in ("60", "604800", "59", "604801", "x", "", "-1", "60.0"):
        yield upload(f"expires_in {value!r}", ("expires_in", value), ("file_path", f"e{value}.txt"), ("file", b"e" + value.encode()))
    for name, value in (("another", HASH), ("not of that form", "x"), ("empty", "")):
        yield upload(f"expected_hash {name}", ("expected_hash", value), ("file_path", f"h-{name}.txt"), ("file", b"h" + name.encode()))
    body = form(path, file)
    for name, headers in (("no type", {"Content-Type": None}), ("JSON", {"Content-Type": "application/json"}),
                          ("no boundary", {"Content-Type": "multipart/form-data"}), ("another boundary", {"Content-Type": "multipart/form-data; boundary=c"}),
                          ("mixed", {"Content-Type": "multipart/mixed; boundary=b"}), ("an empty boundary", {"Content-Type": "multipart/form-data; boundary="}),
                          ("capitals", {"Content-Type": "Multipart/Form-Data; Boundary=\"b\""})):
        yield Ask("upload: type, " + name, "POST", ASSETS, body, headers=headers)
    for name, broken in (("no end", body[:-8]), ("cut in a header", body[:30]), ("empty", b""), ("no part", b"--b--\r\n"),
                         ("no blank line", b"--b\r\nContent-Disposition: form-data; name=\"file\"\r\n--b--\r\n")):
        yield Ask("upload: body, " + name, "POST", ASSETS, broken, headers=FORM)


def known():
    yield to("to know it", "known.txt", b"known bytes", save={"known": "id", "known_hash": "hash"})
    yield to("the same again", "elsewhere.txt", b"known bytes")
    yield Ask("asset", target=ASSETS + "/{known}")
    yield Ask("asset: HEAD", "HEAD", ASSETS + "/{known}")
    for name, body in (("good", {"hash": "{known_hash}"}), ("with a path", {"hash": "{known_hash}", "file_path": "x", "tags": ["a"]}),
                       ("unknown", {"hash": HASH}), ("no hash", {}), ("a number", {"hash": 5}), ("null", {"hash": None}), ("empty", {"hash": ""}),
                       ("no JSON", "{"), ("a list", "[]"), ("a string", '"x"'), ("null body", "null"), ("nothing", "")):
        yield Ask("from-hash: " + name, "POST", ASSETS + "/from-hash", body)
    for name, text in (("known", "{known_hash}"), ("unknown", HASH), ("no hash", "x"), ("empty", ""), ("capitals", HASH.upper())):
        yield Ask("by-hash: " + name, "HEAD", f"{ASSETS}/by-hash/{text}")
    yield Ask("by-hash: percent-encoded", "HEAD", f"{ASSETS}/by-hash/{HASH.replace(':', '%3A')}")
    yield Ask("by-hash: GET", "GET", f"{ASSETS}/by-hash/{HASH}")
    yield Ask("submit: a reference to an upload", "POST", "/api/v2/jobs", {"workflow": {
        "1": {"class_type": "LoadImage", "inputs": {"image": {"__type": "core/ASSET", "info": {"id": "{known}"}}}},
        "2": {"class_type": "PreviewImage", "inputs": {"images": ["1", 0]}}}}, save={"uses": "id"})
    for name, method in (("delete", "DELETE"), ("delete again", "DELETE"), ("gone", "GET")):
        yield Ask("asset: " + name, method, ASSETS + "/{known}")
    yield Ask("by-hash: deleted", "HEAD", ASSETS + "/by-hash/{known_hash}")
    yield Ask("from-hash: deleted", "POST", ASSETS + "/from-hash", {"hash": "{known_hash}"})


def conditional(what, target):
    """Bytes that are asked for on a condition."""
    past, future = "Thu, 01 Jan 1970 00:00:01 GMT", "Fri, 01 Jan 2100 00:00:00 GMT"
    for header, value in (("If-None-Match", "*"), ("If-None-Match", '"other"'), ("If-Match", "*"), ("If-Match", '"other"'),
                          ("If-Modified-Since", past), ("If-Modified-Since", future), ("If-Modified-Since", "x"),
                          ("If-Unmodified-Since", past), ("If-Unmodified-Since", future)):
        yield Ask(f"{what}: {header} {value}", target=target, headers={header: value})
    for value in ('"other"', past, "x"):
        yield Ask(f"{what}: If-Range {value}", target=target, headers={"Range": "bytes=0-3", "If-Range": value})


def gone():
    """A file that was taken by path and is there no more."""
    yield Ask("gone: taken", "POST", ASSETS + "/from-path", {"path": "{base}/input/gone.txt"}, save={"gone": "id"})
    yield Ask("gone: asset", target=ASSETS + "/{gone}", before=lambda world: world.lose("input/gone.txt"))
    yield Ask("gone: content", target=ASSETS + "/{gone}/content")
    yield Ask("gone: content, HEAD", "HEAD", ASSETS + "/{gone}/content")


def without_base():
    """With no folder of ComfyUI's."""
    yield to("no base: a model", "checkpoints/m.safetensors", comfyui.model("nowhere"))
    yield to("no base: no model", "input/x.txt")
    for name, body in (("a file", {"path": "{base}/input/here.txt"}), ("no JSON", "{")):
        yield Ask("no base: from-path, " + name, "POST", ASSETS + "/from-path", body)


def files():
    def taken(name, path, **more):
        return Ask("from-path: " + name, "POST", ASSETS + "/from-path", {"path": path, **more}, save={"file": "id"})

    yield taken("an input", "{base}/input/here.txt")
    yield taken("an input again", "{base}/input/here.txt")
    yield from conditional("a file's bytes", ASSETS + "/{file}/content")
    yield Ask("from-path: its bytes", target=ASSETS + "/{file}/content")
    yield Ask("from-path: a range of them", target=ASSETS + "/{file}/content", headers={"Range": "bytes=2-5"})
    yield Ask("from-path: no such range", target=ASSETS + "/{file}/content", headers={"Range": "bytes=500-"})
    yield taken("deeper", "{base}/input/sub/deep.txt", file_path="shown.txt", content_type="text/x-shown")
    yield taken("an output", "{base}/output/made.txt")
    yield taken("a temporary file", "{base}/temp/short.txt")
    yield taken("a model", "{base}/models/checkpoints/here.safetensors")
    yield taken("no model", "{base}/models/checkpoints/bad.safetensors")
    yield taken("a folder that is no model's", "{base}/models/configs/c.safetensors")
    yield taken("another folder", "{base}/custom_nodes/n.txt")
    yield taken("outside", "{outside}")
    yield taken("a link that leads out", "{base}/input/way_out.txt")
    yield taken("dots", "{base}/input/../../outside.txt")
    yield taken("not there", "{base}/input/none.txt")
    yield taken("a folder", "{base}/input")
    yield taken("relative", "input/here.txt")
    yield taken("empty", "")
    for name, body in (("no JSON", "{"), ("a list", "[]"), ("nothing in it", {}), ("a number", {"path": 5}),
                       ("file_path a number", {"path": "{base}/input/here.txt", "file_path": 5}),
                       ("content_type a list", {"path": "{base}/input/here.txt", "content_type": []})):
        yield Ask("from-path: " + name, "POST", ASSETS + "/from-path", body)


def contents():
    yield Ask("submit: for its bytes", "POST", "/api/v2/jobs", {"workflow": comfyui.picture(0x55AA55)}, save={"bytes_job": "id"})
    yield Ask("its output", target="/api/v2/jobs/{bytes_job}", wait=("bytes_job",), save={"bytes": "outputs.0.id"})
    content = ASSETS + "/{bytes}/content"
    for value in ("bytes=0-9", "bytes=5-", "bytes=-5", "bytes=0-0", "bytes=0-99999999", "bytes=99999999-", "bytes=5-2", "bytes=-0",
                  "bytes=x", "bytes=0-1,3-4", "items=0-1", "bytes = 0-1"):
        yield Ask(f"bytes: Range {value}", target=content, headers={"Range": value})
    yield from conditional("bytes", content)
    yield Ask("bytes: HEAD", "HEAD", content)
    yield Ask("bytes: POST", "POST", content)
    for name, text in (("unknown", UNKNOWN), ("forged", "e30.AAAA"), ("no tag", "e30"), ("two dots", "a.b.c"), ("empty tag", "e30."),
                       ("blank", "%20"), ("a path", "..%2Fx"), ("long", "a" * 5000)):
        yield Ask(f"asset of an id, {name}", target=f"{ASSETS}/{text}")
        yield Ask(f"bytes of an id, {name}", target=f"{ASSETS}/{text}/content")
        yield Ask(f"delete of an id, {name}", "DELETE", f"{ASSETS}/{text}")
    page = b"<script>alert(1)</script>"
    for name, kind in (("a page", "text/html"), ("a drawing", "image/svg+xml"), ("text", "text/plain"), ("a picture", "image/png")):
        yield upload(f"to serve, {name}", ("content_type", kind), ("file_path", "serve-" + name.replace(" ", "-")),
                     ("file", page + name.encode()), save={"served": "id"})
        yield Ask(f"bytes: {name}", target=ASSETS + "/{served}/content")


def all_of():
    for part in (paths, models, shapes, known, files, gone, contents):
        yield from part()
