# SPDX-License-Identifier: MIT
# peers.py - the common part of the scripts that compare programs on one ibsim server: starts the server, OpenSM and a relay,
# measures the times of whole processes, and describes the machine in one line.
import datetime, json, os, platform, queue, re, shutil, signal, statistics, subprocess, sys, threading, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NOT_INSTALLED = 77  # exit code that test suites interpret as skipped
# Put before a command: ends the program with the script, even if the script is killed. Without an input, ibsim would spin.
WITH_US = ["setpriv", "--pdeathsig", "KILL"]


def require(*programs):
    """Ends the script if one of these programs is not installed."""
    missing = [p for p in programs if not shutil.which(p)]
    if missing:
        print(f"not installed: {', '.join(missing)}", file=sys.stderr)
        sys.exit(NOT_INSTALLED)


def built(*names):
    """Returns the default path of a program that was built."""
    return os.path.join(ROOT, "build", "release", *names)


def run(command, environment=None, directory=None, accepted=(0,)):
    """Runs a command. Returns wall seconds, stdout and stderr. An exit code that is not accepted ends the script."""
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
    """An ibsim server that simulates a generated subnet in a directory of the caller. Clients need `environment`, which attaches
    them to the first of `hosts`. By default, ibsim attaches clients to the first node of its file, a switch."""

    started = 0

    def __init__(self, ibtool, spec, directory):
        topology = os.path.join(directory, "topology")
        run([ibtool, "--fabric", f"sim:{spec},time=virtual", "ibnetdiscover", topology])
        with open(topology) as file:
            self.hosts = [name[:31] for name in re.findall(r'^\S+\s+\d+ "H-.*?"\s+# "(.*)"', file.read(), re.M)]
        # OpenSM and the preloaded library write their files to the working directory of their programs.
        Server.started += 1
        self.environment = dict(os.environ, IBSIM_SOCKNAME=f"bench-{os.getpid()}-{Server.started}", OSM_TMP_DIR=directory,
                                OSM_CACHE_DIR=directory)
        self.process = subprocess.Popen([*WITH_US, "ibsim", "-N", "20000", "-S", "4096", "-P", "400000", "-s", topology],
                                        env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        try:
            self._await_prompt()
            # The first prompt is printed before the sockets exist, but the answer to a command after that.
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
    """Returns the time, in seconds, of the first line of OpenSM's log with these words:
    `Nov 22 04:50:44 934778 [...] 0x80 -> Entering MASTER state`."""
    line = re.search(rf"^(\w+ +\d+ [0-9:]+) (\d+) .*{words}", log, re.M)
    if not line:
        sys.exit(f"opensm does not say '{words}': {log[-400:]}")
    # Any leap year will do; in other years, February 29 would be invalid.
    return datetime.datetime.strptime("2000 " + line.group(1), "%Y %b %d %H:%M:%S").timestamp() + int(line.group(2)) / 1e6


class Manager:
    """OpenSM in the subnet of a server or a relay. It configures the subnet, continues to run, and sweeps on request."""

    def __init__(self, server, directory):
        self.log = os.path.join(directory, "manager.log")
        modules = os.path.join(directory, "manager.modules")
        with open(modules, "w") as file:
            file.write("osm_state_mgr.c 0x07\n") # logs the start of sweeps; all modules would log much more
        config = os.path.join(directory, "manager.conf")
        with open(config, "w") as file:
            file.write(f"per_module_logging_file {modules}\n")
        # OpenSM writes to its own log file only with a delay, so it logs to stderr.
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
        """Waits until the subnet is up. Returns the text that OpenSM has logged after `before`."""
        deadline = time.monotonic() + 300
        while "-> SUBNET UP" not in (said := self.text()[len(before):]):
            if self.process.poll() is not None or time.monotonic() > deadline:
                sys.exit("opensm did not configure the subnet: " + said[-400:])
            time.sleep(0.02)
        return said

    def heavy_sweep(self):
        """Returns the seconds from the first SMP until the subnet is up, and the number of sweeps that this needed: after errors,
        OpenSM starts another sweep."""
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
        except subprocess.TimeoutExpired: # its server has ended, but it still waits for a reply
            self.process.kill()
            self.process.wait()


class Relay:
    """A relay between the server, or another relay, and clients with its `environment`. `options`: those of bench/ibsim_relay."""

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
        """Reads the lines of the relay immediately, because the relay would stop once the pipe is full."""
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
        """Returns the counts of the first client that has ended and whose counts were not returned before."""
        return self._next("gone")

    def now(self):
        """Returns the counts of all connected clients, in the order in which they connected."""
        self.process.send_signal(signal.SIGUSR1)
        return self._next("now")

    def went(self):
        """Returns the number of MADs that the latest client sent."""
        return self.gone()["requests"]["came"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.reader.join()


def stanzas(text):
    """Returns the stanzas of a topology, without comments."""
    return {s.strip() for s in text.split("\n\n") if not s.startswith("#")}


def machine():
    with open("/proc/cpuinfo") as file:
        model = re.search(r"model name\s*: (.*)", file.read())
    return f"{os.cpu_count()} cores, {model.group(1) if model else platform.machine()}, Linux {platform.release()}"


def spread(values):
    return f"{statistics.median(values):.3f} ({min(values):.3f}..{max(values):.3f})"


def median_ratio(ours, theirs):
    """Returns the median of the ratios within each round."""
    return statistics.median(a / b for a, b in zip(ours, theirs))
