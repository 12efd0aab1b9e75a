"""Runs ComfyUI's default text-to-image workflow through portico with the Python SDK, and shows how it goes.

usage: demo.py BUILD_DIR PICTURE.png
"""
import os
import shutil
import sys
import time

from servers import Pair

HERE = os.path.dirname(os.path.abspath(__file__))
STEP_DELAY = "150ms"  # of 20 steps: long enough to watch


class Display:
    """A progress bar where a person looks, plain lines where a program reads."""

    def __init__(self, graph):
        self.graph = graph
        self.live = sys.stdout.isatty()
        self.last = None

    def show(self, job):
        what, step, steps = self._now(job)
        total = 1.0 if job.status.value == "succeeded" else job.progress.value if job.progress else 0.0
        text = f"{what}, step {step} of {steps}" if steps > 1 else what
        if not self.live:
            if text != self.last:
                print(f"  {total:4.0%}  {text}", flush=True)
        else:
            width = max(10, min(40, shutil.get_terminal_size().columns - 45))
            full = int((step / steps if steps > 1 else total) * width)
            print(f"\r\033[K  [{'#' * full}{'.' * (width - full)}] {text}  (job {total:.0%})", end="", flush=True)
        self.last = text

    def _now(self, job):
        progress = job.progress
        node = self.graph.get(progress.current_node or "") if progress else None
        if node is None:
            return job.status.value, 0, 0
        return node["class_type"], progress.step or 0, progress.steps or 0

    def end(self):
        if self.live:
            print()


def watch(low, job_id, graph):
    """Polls until the job has ended; what a plain poll shows is live."""
    display = Display(graph)
    while True:
        job = low.get_job(job_id)
        display.show(job)
        if job.status.value in ("succeeded", "failed", "canceled", "expired"):
            display.end()
            return job
        time.sleep(0.1)


def main(build, picture):
    with Pair(build, STEP_DELAY) as pair:
        os.environ["COMFY_BASE_URL"] = pair.portico.url
        from comfy_low.transport import ComfyLow
        from comfy_sdk import Comfy

        print(f"portico at {pair.portico.url}, in front of a stand-in ComfyUI at {pair.standin.url}")
        low = ComfyLow(pair.portico.url)
        with Comfy(client_info="portico-demo") as client:
            workflow = client.workflows.from_file(os.path.join(HERE, "workflows", "text_to_image.json"))
            job = client.submit(workflow)
            print(f"job {job.id}: {len(workflow.json)} nodes")
            state = watch(low, job.id, workflow.json)
            if state.status.value != "succeeded":
                print(f"the job ended {state.status.value}: {state.error}")
                return 1
            job.result()
            (output,) = job.outputs
            path = output.to_file(os.path.abspath(picture))
        low.close()
        took = (state.completed_at - state.started_at).total_seconds()
        print(f"done in {took:.1f} s: {output.name}, {output.content_type}, {os.path.getsize(path):,} bytes")
        print(f"the picture: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
