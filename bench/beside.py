# SPDX-License-Identifier: MIT
# beside.py - what the scripts share that compare programs on one ibsim server: the server, OpenSM and a relay beside it,
# whole processes and their times, the machine in one line.
import datetime, json, os, platform, queue, re, shutil, signal, statistics, subprocess, sys, threading, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NOT_INSTALLED = 77  # exit code, as test suites have it
# In front of a server: it dies with the script, even if that is killed. Without an input ibsim spins.
WITH_US = ["setpriv", "--pdeathsig", "KILL"]


def require(*programs):
    """Ends the script where one of these is not there."""
    missing = [p for p in programs if not shutil.which(p)]
    if missing:
        print(f"not installed: {', '.join(missing)}", file=sys.stderr)
        sys.exit(NOT_INSTALLED)


def built(*names):
    """Where the build has put a program, unless an option says otherwise."""
    return os.path.join(ROOT, "build", "release", *names)


def run(command, environment=None, directory=None, accepted=(0,)):
    """Wall seconds, stdout and stderr; an exit code that is not accepted ends the script."""
    start = time.monotonic()
    try:
        done = subprocess.run(command, env=environment, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, errors="replace")
    except OSError as error:
        sys.exit(f"{command[0]} could not start: {error.strerror}")
    wall = time.monotonic() - start
    if done.returncode not in accepted:
        sys.exit(f"{' '.join(command)} failed with {done.returncode}: {done.stderr}")
    return wall, done.stdout, done.stderr


class Server:
    """An ibsim server of a made subnet in a directory of the caller's. `environment` is for its clients, which it attaches
    at the first of `hosts`: left alone it takes the first node of its file, a switch."""

    started = 0

    def __init__(self, ibtool, spec, directory):
        topology = os.path.join(directory, "topology")
        run([ibtool, "--fabric", f"sim:{spec},time=virtual", "ibnetdiscover", topology])
        with open(topology) as file:
            self.hosts = [name[:31] for name in re.findall(r'^\S+\s+\d+ "H-.*?"\s+# "(.*)"', file.read(), re.M)]
        # OpenSM's files and the preloaded library's go where their programs run.
        Server.started += 1
        self.environment = dict(os.environ, IBSIM_SOCKNAME=f"bench-{os.getpid()}-{Server.started}", OSM_TMP_DIR=directory,
                                OSM_CACHE_DIR=directory)
        self.process = subprocess.Popen([*WITH_US, "ibsim", "-N", "20000", "-S", "4096", "-P", "400000", "-s", topology],
                                        env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        try:
            self._await_prompt()
            # The first prompt comes before the sockets exist, the answer to a command after.
            self.process.stdin.write(b"# ready?\n")
            self.process.stdin.flush()
            self._await_prompt()
        except BaseException:
            self.process.kill()
            raise
        self.environment["SIM_HOST"] = self.hosts[0]

    def _await_prompt(self):
        said = b""
        while not said.endswith(b"sim>"):
            byte = self.process.stdout.read(1)
            if not byte:
                sys.exit("ibsim did not start: " + said.decode(errors="replace")[-400:])
            said += byte

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def time_of(log, words):
    """Seconds, of OpenSM's first line that says so: `Nov 22 04:50:44 934778 [...] 0x80 -> Entering MASTER state`."""
    line = re.search(rf"^(\w+ +\d+ [0-9:]+) (\d+) .*{words}", log, re.M)
    if not line:
        sys.exit(f"opensm does not say '{words}': {log[-400:]}")
    # The year does not matter, but without one that has it the 29th of February is no date.
    return datetime.datetime.strptime("2000 " + line.group(1), "%Y %b %d %H:%M:%S").timestamp() + int(line.group(2)) / 1e6


class Manager:
    """OpenSM in the subnet of a server or a relay: configures it, then stays and sweeps when it is asked to."""

    def __init__(self, server, directory):
        self.log = os.path.join(directory, "manager.log")
        modules = os.path.join(directory, "manager.modules")
        with open(modules, "w") as file:
            file.write("osm_state_mgr.c 0x07\n") # says when a sweep begins; all of OpenSM says much more
        config = os.path.join(directory, "manager.conf")
        with open(config, "w") as file:
            file.write(f"per_module_logging_file {modules}\n")
        # Into a file of its own OpenSM writes late.
        command = [*WITH_US, "ibsim-run", "opensm", "--sweep", "0", "--config", config, "--log_file", "stderr"]
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(command, env=server.environment, cwd=directory, stdin=subprocess.DEVNULL,
                                            stdout=subprocess.DEVNULL, stderr=log)
        try:
            self._await_up("")
        except BaseException:
            self.process.kill()
            raise

    def _await_up(self, before):
        """What it has said since `before`, until the subnet is up."""
        deadline = time.monotonic() + 300
        while "-> SUBNET UP" not in (said := self.text()[len(before):]):
            if self.process.poll() is not None or time.monotonic() > deadline:
                sys.exit("opensm did not configure the subnet: " + said[-400:])
            time.sleep(0.02)
        return said

    def heavy_sweep(self):
        """Seconds from its first SMP until it says that the subnet is up, and how many sweeps that took: after errors it
        begins anew."""
        before = self.text()
        self.process.send_signal(signal.SIGHUP)
        said = self._await_up(before)
        return time_of(said, "-> SUBNET UP") - time_of(said, "state_mgr_sweep_hop_0"), said.count("INITIATING HEAVY SWEEP")

    def text(self):
        with open(self.log, errors="replace") as file:
            return file.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired: # its server has ended, and it awaits an answer
            self.process.kill()
            self.process.wait()


class Relay:
    """Between the server, or another relay, and clients that have its `environment`; `options` are bench/ibsim_relay's."""

    def __init__(self, program, server, *options):
        sockname = server.environment["IBSIM_SOCKNAME"]
        self.environment = dict(server.environment, IBSIM_SOCKNAME=f"{sockname}-relay")
        self.process = subprocess.Popen(
            [*WITH_US, program, "--server", sockname, "--sockname", f"{sockname}-relay", *(str(o) for o in options)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.unread = {"gone": queue.SimpleQueue(), "now": queue.SimpleQueue()}
        if self.process.stdout.readline() != "ready\n":
            sys.exit("the relay did not start")
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        """As they come: a relay that nobody reads stands still once the pipe is full."""
        for line in self.process.stdout:
            for kind, value in json.loads(line).items():
                self.unread[kind].put(value)
        for kind in self.unread.values():
            kind.put(None)

    def _next(self, what):
        counts = self.unread[what].get()
        if counts is None:
            sys.exit("the relay has ended")
        return counts

    def gone(self):
        """Counts of the first client that has gone and was not asked for."""
        return self._next("gone")

    def now(self):
        """Counts of all clients that are there, in the order in which they came."""
        self.process.send_signal(signal.SIGUSR1)
        return self._next("now")

    def went(self):
        """How many MADs the latest client sent."""
        return self.gone()["requests"]["came"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.reader.join()


def stanzas(text):
    """Of a topology, without the comments."""
    return {s.strip() for s in text.split("\n\n") if not s.startswith("#")}


def machine():
    with open("/proc/cpuinfo") as file:
        model = re.search(r"model name\s*: (.*)", file.read())
    return f"{os.cpu_count()} cores, {model.group(1) if model else platform.machine()}, Linux {platform.release()}"


def spread(values):
    return f"{statistics.median(values):.3f} ({min(values):.3f}..{max(values):.3f})"


def median_ratio(ours, theirs):
    """Of the ratios within each round."""
    return statistics.median(a / b for a, b in zip(ours, theirs))
