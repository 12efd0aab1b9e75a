"""What the scenarios ask of the stand-in ComfyUI behind portico, and the graphs that they run."""
import json
import struct
import urllib.parse
import urllib.request


class ComfyUI:
    def __init__(self, url):
        self.url = url

    def _get(self, target):
        with urllib.request.urlopen(self.url + target, timeout=30) as answer:
            return answer.read()

    def counters(self):
        return json.loads(self._get("/standin/counters"))

    def calls(self, route):
        return self.counters()["calls"].get(route, 0)

    def last_graph(self):
        return json.loads(self.counters()["last_prompt"])["prompt"]

    def file(self, name, kind="output"):
        return self._get("/view?" + urllib.parse.urlencode({"filename": name, "type": kind}))

    def knobs(self, **knobs):
        request = urllib.request.Request(self.url + "/standin/knobs", data=json.dumps(knobs).encode())
        urllib.request.urlopen(request, timeout=30).close()


def picture(colour):
    """Makes a picture of one colour."""
    return {"1": {"class_type": "EmptyImage", "inputs": {"width": 64, "height": 48, "batch_size": 1, "color": colour}},
            "9": {"class_type": "SaveImage", "inputs": {"images": ["1", 0], "filename_prefix": "picture"}}}


def inverted():
    """Turns the picture that node 1 loads into its negative."""
    return {"1": {"class_type": "LoadImage", "inputs": {"image": ""}},
            "2": {"class_type": "ImageInvert", "inputs": {"image": ["1", 0]}},
            "9": {"class_type": "SaveImage", "inputs": {"images": ["2", 0], "filename_prefix": "negative"}}}


def sampled(checkpoint="m.safetensors", seed=1):
    """Samples four steps with a checkpoint."""
    return {
        "1": {"class_type": "CheckpointLoaderSimple", "inputs": {"ckpt_name": checkpoint}},
        "2": {"class_type": "CLIPTextEncode", "inputs": {"text": "a lake", "clip": ["1", 1]}},
        "4": {"class_type": "EmptyLatentImage", "inputs": {"width": 64, "height": 64, "batch_size": 1}},
        "5": {"class_type": "KSampler", "inputs": {
            "seed": seed, "steps": 4, "cfg": 7, "sampler_name": "euler", "scheduler": "normal", "denoise": 1,
            "model": ["1", 0], "positive": ["2", 0], "negative": ["2", 0], "latent_image": ["4", 0]}},
        "6": {"class_type": "VAEDecode", "inputs": {"samples": ["5", 0], "vae": ["1", 2]}},
        "9": {"class_type": "SaveImage", "inputs": {"images": ["6", 0], "filename_prefix": "sampled"}}}


def model(name="weight"):
    """A safetensors file with one tensor of that name."""
    header = json.dumps({name: {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    return struct.pack("<Q", len(header)) + header + bytes(8)
