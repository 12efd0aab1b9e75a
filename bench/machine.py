"""What the system says of processes and of itself.  Linux only: it reads /proc."""
import os
import platform
import re
import subprocess

TICK = os.sysconf("SC_CLK_TCK")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def family(pid):
    """The process and all it started."""
    pids = [pid]
    for one in pids:
        try:
            for task in os.listdir(f"/proc/{one}/task"):
                pids += [int(child) for child in read(f"/proc/{one}/task/{task}/children").split()]
        except FileNotFoundError:
            pass
    return pids


def cpu_seconds(pid):
    """CPU time used so far by the process and all it started, user and system."""
    total = 0
    for one in family(pid):
        try:
            fields = read(f"/proc/{one}/stat").rsplit(")", 1)[1].split()
        except FileNotFoundError:
            continue
        total += int(fields[11]) + int(fields[12])
    return total / TICK


def memory_mib(pid):
    """Resident memory, and the same with shared pages divided among those that share them, in MiB."""
    resident = proportional = 0
    for one in family(pid):
        rollup = read(f"/proc/{one}/smaps_rollup")
        resident += int(re.search(r"^Rss:\s+(\d+)", rollup, re.M)[1])
        proportional += int(re.search(r"^Pss:\s+(\d+)", rollup, re.M)[1])
    return resident / 1024, proportional / 1024


def peak_mib(pid):
    """The most memory that was ever resident at one time, in MiB; of the one process."""
    return int(re.search(r"^VmHWM:\s+(\d+)", read(f"/proc/{pid}/status"), re.M)[1]) / 1024


def busy_seconds():
    """CPU time spent by all cores on anything, so far."""
    fields = [int(f) for f in read("/proc/stat").split("\n", 1)[0].split()[1:]]
    user, nice, system, _idle, _wait, irq, softirq, steal = fields[:8]
    return (user + nice + system + irq + softirq + steal) / TICK


def first_line(*command):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.stdout.strip().split("\n")[0]
    except FileNotFoundError:
        return "not there"


def describe(root):
    """What a reader needs to compare: the machine, its kernel, the compilers and the state of the tree."""
    model = re.search(r"^model name\s*:\s*(.+)", read("/proc/cpuinfo"), re.M)
    changed = first_line("git", "-C", root, "status", "--porcelain", "--untracked-files=no")
    return {
        "cpu": model[1] if model else platform.machine(),
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "system": re.search(r'^PRETTY_NAME="(.+)"', read("/etc/os-release"), re.M)[1],
        "compiler": first_line("c++", "--version"),
        "go": first_line("go", "version"),
        "nginx": first_line("nginx", "-v"),
        "commit": (first_line("git", "-C", root, "rev-parse", "--verify", "-q", "--short", "HEAD") or "no commit")
        + (" with changes" if changed else ""),
        "load": read("/proc/loadavg").split()[0],
    }
