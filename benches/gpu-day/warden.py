#!/usr/bin/env python3
"""Runs a command, and ends it with all that it started when it is done or when the caller is gone, however the caller ended.

    warden.py COMMAND...

The caller holds the other end of standard input, which is closed when the caller is killed. SIGTERM is passed on to the command.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading


def main():
    try:
        # The command has a group of its own, so that everything that it starts can be ended at once.
        child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, preexec_fn=os.setpgrp)
    except OSError as error:
        print(error, file=sys.stderr)
        return 127

    def end(number):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, number)

    def watch():
        while os.read(0, 1):
            pass
        end(signal.SIGKILL)

    signal.signal(signal.SIGTERM, lambda *_: end(signal.SIGTERM))
    threading.Thread(target=watch, daemon=True).start()
    code = child.wait()
    end(signal.SIGKILL)
    # A signal as shells report it.
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
