"""Running programs for a race: ours, and Python with what it has installed; how long they take and how much memory."""
import functools
import json
import os
import platform
import resource
import subprocess
import tempfile
import threading
import time
import typing

from race_book import Spread

DIED = "failed: the process died"
HERE = os.path.dirname(os.path.abspath(__file__))


class Ran(typing.NamedTuple):
    status: int  # 0, another exit status, minus a signal, or None: stopped after its time
    output: str
    errors: str
    seconds: float
    cpu: float
    mib: float  # the largest process

    def why(self):
        """In one line, what went wrong."""
        if self.status is None:
            return f"stopped after {self.seconds:.0f} s"
        lines = [line for line in self.errors.split("\n") if line.strip()]
        if not lines:
            return f"ended with status {self.status}"
        return lines[-1] if lines[0].startswith("Traceback") else lines[0]


def run(command, environment=None, timeout=None, data_bytes=None):
    """Runs a command to its end, and measures it."""

    def limit():
        if data_bytes:
            resource.setrlimit(resource.RLIMIT_DATA, (data_bytes, data_bytes))

    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
                                   env=environment, preexec_fn=limit if data_bytes else None)  # fmt: skip
        late = threading.Event()
        timer = threading.Timer(timeout or 1e6, lambda: (late.set(), process.kill()))
        timer.daemon = True
        timer.start()
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (output, errors):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    return Ran(None if late.is_set() else process.returncode, *texts, seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


class Tools:
    """The two programs that race, and where they work."""

    def __init__(self, program, python, folder):
        self.program, self.python, self.folder = program, python, folder
        self.cores = len(os.sched_getaffinity(0))
        self.environment = dict(os.environ, XDG_CACHE_HOME=os.path.join(folder, "cache"), PEER_SPLITS=folder, PYTHONDONTWRITEBYTECODE="1")

    # ---- ours

    def ours(self, *arguments, **how):
        return run([self.program, *map(str, arguments)], self.environment, **how)

    def ours_json(self, *arguments, **how):
        ran = self.ours(*arguments, "--json", "--quiet", **how)
        if ran.status != 0:
            raise RuntimeError(ran.why())
        return json.loads(ran.output), ran

    def bench(self, dataset, net, threads, **how):
        """The floor of an epoch, what an epoch takes, and what the prediction of every node takes: milliseconds."""
        found, _ = self.ours_json("bench", dataset, net, "--kept", "--threads", threads, *self.split(dataset), **how)

        def of(whole):
            return Spread(*(1000 * whole.get(key, whole["measured_s"]) for key in ("median_s", "low_s", "high_s")))

        return 1000 * found["epoch"]["floor_s"], of(found["epoch"]), of(found["predict"])

    @functools.cache
    def split(self, path):
        """The options of our commands: the standard split, or else the first one of the paper's protocol."""
        found, _ = self.ours_json("data", "info", path)
        return [] if found["split"] else ["--split", "random:0"]

    def keep_split(self, path, name):
        """Where a dataset has no split of its own, the others are given ours."""
        ran = self.ours("data", "split", path, *self.split(path), "-o", os.path.join(self.folder, name + ".csv"), "--quiet")
        if ran.status != 0:
            raise RuntimeError(ran.why())

    # ---- theirs

    def script(self, name, *arguments, **how):
        return run([self.python, os.path.join(HERE, name), *map(str, arguments)], self.environment, **how)

    def import_once(self, module):
        return run([self.python, "-c", f"import {module}"], dict(self.environment, PYTHONDONTWRITEBYTECODE=""))

    @functools.cache
    def has(self, module):
        return self.import_once(module).status == 0

    @functools.cached_property
    def versions(self):
        code = "import race_versions; race_versions.main()"
        ran = run([self.python, "-c", code], dict(self.environment, PYTHONPATH=os.pathsep.join(filter(None, [HERE, os.environ.get("PYTHONPATH")]))))
        return ran.output.strip() if ran.status == 0 else f"{self.python}: {ran.why()}"


class Peers:
    """A Python that has read a dataset and waits for what to measure, so that the sides can take turns."""

    def __init__(self, tools, dataset):
        self.command, self.environment = [tools.python, os.path.join(HERE, "peer_epoch.py"), "--ask", dataset], tools.environment
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        env=self.environment, text=True)  # fmt: skip

    def ask(self, net, way, threads, seconds):
        """Milliseconds an epoch as a Spread, or in words why not."""
        try:
            self.process.stdin.write(f"{net} {way} {threads} {seconds}\n")
            self.process.stdin.flush()
            found = spread_of_line(self.process.stdout.readline())
        except BrokenPipeError:
            found = DIED
        if found == DIED:  # the next one finds another
            self.process.kill()
            self.process.wait()
            self.start()
        return found

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def spread_of_line(line):
    """Of DATASET NET WAY MEDIAN LOW HIGH LEAST ACCURACY..., or the reason that stands there instead."""
    words = line.split()
    if len(words) < 4:
        return DIED
    if words[3] == "failed:":
        return "failed: " + " ".join(words[4:])
    return Spread(*map(float, words[3:6]))


# ---- the machine -----------------------------------------------------------------------------------------------------


def first_line(path, key):
    try:
        with open(path, encoding="utf-8") as file:
            return next((line.split(":", 1)[1].strip() for line in file if line.startswith(key)), "")
    except OSError:
        return ""


def processor():
    ran = run(["lscpu"]) if any(os.access(os.path.join(p, "lscpu"), os.X_OK) for p in os.get_exec_path()) else None
    named = [line.split(":", 1)[1].strip() for line in (ran.output if ran else "").split("\n") if line.startswith("Model name")]
    return named[0] if named else first_line("/proc/cpuinfo", "model name") or "unknown processor"


def memory_available():
    kib = first_line("/proc/meminfo", "MemAvailable").split()
    return 1024 * int(kib[0]) if kib else 8 << 30


def describe(tools):
    """Lines on who runs where."""
    kib = first_line("/proc/meminfo", "MemTotal").split()
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    memory = f"{int(kib[0]) / 1048576:.0f} GiB" if kib else "memory unknown"
    yield f"machine: {tools.cores} cores, {platform.machine()}, {processor()}, {memory}; load average at the start {load}"
    version = tools.ours("--version")
    yield "ours: " + (version.output.split("\n")[0] if version.status == 0 else version.why())
    yield "theirs: " + tools.versions
