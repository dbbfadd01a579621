"""Children that behave badly, as programs for `python -c`; each is given the test's word, and hands it on."""

SLEEP = "import sys, time; time.sleep(600)"
HANG = "import time\nprint('begun', flush=True)\ntime.sleep(600)"
DEAF = """
import signal, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
print('deaf', flush=True)
time.sleep(600)
"""
FORKING = f"""
import subprocess, sys
for _ in range(3):
    subprocess.Popen([sys.executable, '-c', {SLEEP!r}, sys.argv[1]])
print('three left behind')
"""
DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir('/')
        for descriptor in (0, 1, 2):
            os.close(descriptor)
        time.sleep(600)
    os._exit(0)
os.wait()
print('daemonised', flush=True)
"""
CLEARED = f"""
import os, subprocess, sys
subprocess.Popen([sys.executable, '-c', {SLEEP!r}, sys.argv[1]], env={{}}, start_new_session=True)
print('cleared', flush=True)
"""
CLOSING = "import os, time\nos.write(1, b'last words')\nos.close(1)\nos.close(2)\ntime.sleep(0.2)"
LOUD = "import os\nfor _ in range(50):\n    os.write(1, b'x' * 999_999 + b'\\n')"
STOPPED = "import os, signal\nprint('stopped', flush=True)\nos.kill(os.getpid(), signal.SIGSTOP)"
HOPPING = """
import os, sys, time
print('hopping', flush=True)
if os.fork():
    os._exit(0)
until = time.monotonic() + 60
while time.monotonic() < until:
    if os.fork():
        os._exit(0)
"""
BINARY = "import os\nos.write(1, bytes(range(256)) * 40 + b'\\x1b[2J\\x07')"
FINE = "print('fine')"

HANGING = {"hang": HANG, "deaf": DEAF, "stopped": STOPPED}
ENDING = {
    "forking": FORKING, "daemon": DAEMON, "cleared": CLEARED, "closing": CLOSING, "binary": BINARY, "fine": FINE,
}  # fmt: skip
