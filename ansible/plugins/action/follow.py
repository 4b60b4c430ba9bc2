"""The near half of follow: asks a host again and again, and writes what arrives."""

import base64
import hashlib
import json
import os
import re
import time

from ansible.errors import AnsibleActionFail, AnsibleConnectionFailure
from ansible.plugins.action import ActionBase

SAFE = re.compile(r"[A-Za-z0-9._@:+,=%-]+")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Arrived:
    """What has arrived of a host. A host's names are a stranger's: each is checked, and
    nothing is written through a link."""

    def __init__(self, output):
        self.output = os.path.abspath(output)
        self.have = {}
        self.last = ""
        size = self.size("record/trials.jsonl")
        if size:
            self.have["record/trials.jsonl"] = {"size": size}

    def path(self, name):
        if name == "log":
            return self.output + ".log"
        pieces = name.split("/")
        if pieces[0] != "record" or len(pieces) < 2 or any(p in (".", "..") or not SAFE.fullmatch(p) for p in pieces):
            raise AnsibleActionFail("the host names a file %r, which no record has" % name)
        path = self.output
        for p in pieces[1:]:
            if os.path.islink(path):
                raise AnsibleActionFail("%s is a link: nothing is written there" % path)
            path = os.path.join(path, p)
        return path

    def size(self, name):
        try:
            return os.path.getsize(self.path(name))
        except OSError:
            return 0

    def take(self, part):
        path = self.path(part["name"])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        data = base64.b64decode(part["data"])
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | (0 if part["offset"] else os.O_TRUNC)
        with os.fdopen(os.open(path, flags, 0o644), "r+b" if part["offset"] else "wb") as f:
            if part["offset"]:
                f.truncate(part["offset"])
                f.seek(part["offset"])
            f.write(data)
        self.have[part["name"]] = {"size": part["offset"] + len(data), "stamp": part["stamp"]}
        if part["name"] == "log":
            lines = [line for line in data.decode(errors="replace").splitlines() if line.strip()]
            self.last = CONTROL.sub(" ", lines[-1]).strip() if lines else self.last

    def wrong(self, sums):
        """The files that are not what they are on the host."""
        return [n for n, want in sums.items() if self.digest(n) != want]

    def digest(self, name):
        try:
            with open(self.path(name), "rb") as f:
                return hashlib.sha256(f.read()).hexdigest()
        except OSError:
            return ""

    def trials(self):
        try:
            with open(self.path("record/trials.jsonl"), "rb") as f:
                return sum(piece.count(b"\n") for piece in iter(lambda: f.read(1 << 20), b""))
        except OSError:
            return 0

    def status(self):
        try:
            with open(self.path("record/run.json"), encoding="utf-8") as f:
                return json.load(f).get("status", "")
        except (OSError, ValueError):
            return ""


class ActionModule(ActionBase):
    """Follows a run until it has ended, also over connections that are lost."""

    _requires_connection = False

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        _valid, args = self.validate_argument_spec(
            argument_spec={
                "directory": {"type": "path", "required": True},
                "output": {"type": "path", "required": True},
                "every": {"type": "float", "default": 5},
                "lost_after": {"type": "float", "default": 600},
            }
        )
        self.host = (task_vars or {}).get("inventory_hostname", "")
        arrived = Arrived(args["output"])
        result.update(changed=False, trials=arrived.trials(), said="", outcome="")
        if self._task.check_mode:
            result.update(skipped=True, outcome="absent", said="nothing is followed in check mode")
            return result
        before = arrived.trials()
        outcome, why = self.follow(args, arrived, task_vars)
        result.update(outcome=outcome, said=why, trials=arrived.trials(), changed=arrived.trials() != before)
        return result

    def follow(self, args, arrived, task_vars):
        reached, said, again = time.monotonic(), "", False
        while True:
            try:
                look = self.look(args["directory"], arrived, task_vars)
                reached = time.monotonic()
            except AnsibleConnectionFailure as err:
                if time.monotonic() - reached >= args["lost_after"]:
                    return "lost", "the host can't be reached any more: %s" % one_line(err)
                self.say("the connection is lost; the run goes on there, and is tried again")
                time.sleep(min(args["every"], 5))
                continue
            if not look.get("there"):
                return "absent", "there is no run on the host any more"
            for part in look["parts"]:
                arrived.take(part)
            if arrived.last != said:
                said = arrived.last
                self.say("%s (%d trials are here)" % (said, arrived.trials()))
            if not look["whole"]:
                continue
            if look["going"]:
                time.sleep(args["every"])
                continue
            wrong = arrived.wrong(look["sums"])
            if not wrong:
                return ended(look["end"], arrived)
            if again:
                return "failed", "%s did not arrive as it is on the host" % wrong[0]
            again = True
            for name in wrong:
                arrived.have.pop(name, None)

    def look(self, directory, arrived, task_vars):
        answer = self._execute_module("plimsoll.plimsoll.follow", {"directory": directory, "have": arrived.have}, task_vars=task_vars)
        if answer.get("unreachable"):
            raise AnsibleConnectionFailure(answer.get("msg", ""))
        if answer.get("failed"):
            text = answer.get("module_stderr") or answer.get("msg", "")
            # A machine that dies takes the module with it.
            raise AnsibleConnectionFailure("looking at the run: " + text)
        return answer["look"]

    def say(self, text):
        self._display.display("%s: %s" % (self.host, text))


def ended(end, arrived):
    """How a run has ended, by its exit status and its record."""
    status = arrived.status()
    if status == "done" and end in ("0", ""):
        return "done", arrived.last
    if status == "done" and end == "6":
        return "some trials failed", arrived.last
    if status in ("interrupted", "running"):
        return "interrupted", arrived.last or "the run has ended before its time"
    return "failed", arrived.last or "plimsoll has ended with status %s" % end


def one_line(err):
    return CONTROL.sub(" ", str(err)).strip()
