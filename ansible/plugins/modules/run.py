#!/usr/bin/python
"""Begins a run of plimsoll on this host, which goes on when the connection has ended."""

DOCUMENTATION = r"""
module: run
short_description: Begin a run of Plimsoll on a host
description:
  - Begins C(plimsoll run) in a session of its own. The module returns at once, and the run goes on
    whatever becomes of the connection. M(plimsoll.plimsoll.follow) follows it and fetches its record.
  - A run that goes on already, or is done, is left as it is. One that was interrupted is resumed.
author: The Plimsoll authors
options:
  directory:
    description: The folder of the run on this host. It is made, for its user alone.
    type: path
    required: true
  state:
    description:
      - With V(prepared), the folder is made, and a record may be put into its folder C(record), to be resumed.
      - With V(absent), the folder is removed, unless a run in it goes on.
    type: str
    choices: [started, prepared, absent]
    default: started
  study:
    description: A bundled study, or one of O(files). Needed with O(state=started).
    type: str
  files:
    description: The text of the study's files, by their names.
    type: dict
    default: {}
  program:
    description: The path of C(plimsoll) on this host.
    type: path
    default: /usr/local/bin/plimsoll
  seed:
    description: The seed of the order of trials, the same on all hosts.
    type: int
  arguments:
    description: Further arguments of C(plimsoll run).
    type: list
    elements: str
    default: []
  environment:
    description: Variables for the run, such as a proxy or a token. They are never logged.
    type: dict
    default: {}
attributes:
  check_mode:
    support: full
    description: Says what would be begun or removed.
"""

EXAMPLES = r"""
- name: Begin the study
  plimsoll.plimsoll.run:
    directory: /var/lib/plimsoll-ansible/nightly
    study: quick
    seed: 42
    arguments: [--blocks, "30"]
"""

RETURN = r"""
status:
  description: What the record on the host says of its run. Empty where there is none.
  returned: always
  type: str
begun:
  description: How the run was begun. C(new), C(resumed), or empty where nothing was done.
  returned: always
  type: str
"""

import fcntl
import json
import os
import shutil
import signal
import subprocess

from ansible.module_utils.basic import AnsibleModule

LEDGER = "ledger"
OURS = "plimsoll.plimsoll"


class Folder:
    """The folder of a run: the ledger says that it is ours, and the kernel drops the
    lock on the file "process" when the last process of the run has ended."""

    def __init__(self, path):
        self.path = path

    def file(self, name):
        return os.path.join(self.path, name)

    def text(self, name):
        try:
            with open(self.file(name), encoding="utf-8") as f:
                return f.read().strip()
        except OSError:
            return ""

    def ours(self):
        """Only a folder that is its user's alone, with our ledger, is touched."""
        if os.path.islink(self.path) or not os.path.isdir(self.path):
            return False
        info = os.stat(self.path)
        return info.st_uid == os.geteuid() and not info.st_mode & 0o077 and self.text(LEDGER) == OURS

    def runs(self):
        try:
            with open(self.file("process"), encoding="utf-8") as f:
                fcntl.flock(f, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    def status(self):
        """What the record says of itself: running, interrupted, done; empty without one."""
        try:
            return json.loads(self.text("record/run.json") or "{}").get("status", "")
        except ValueError:
            return ""

    def make(self):
        os.makedirs(os.path.dirname(self.path), mode=0o755, exist_ok=True)
        os.mkdir(self.path, 0o700)
        with open(self.file(LEDGER), "w", encoding="utf-8") as f:
            f.write(OURS + "\n")


def launch(folder, command, environment):
    """Begins the command as a process of its own session, and returns when it is there."""
    told, tell = os.pipe()
    if os.fork() != 0:
        os.close(tell)
        with os.fdopen(told, "rb") as f:
            why = f.read()
        os.wait()
        return why.decode()
    # From here on nothing is returned: this is another process.
    os.close(told)
    os.setsid()
    if os.fork() != 0:
        os._exit(0)
    exit_status = 1
    try:
        for s in (signal.SIGHUP, signal.SIGINT):
            signal.signal(s, signal.SIG_IGN)
        os.umask(0o022)
        nothing = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(nothing, fd)
        lock = os.open(folder.file("process"), os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        log = os.open(folder.file("log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        # The run holds the lock too: should this process be ended, it still is one that goes on.
        run = subprocess.Popen(
            command, stdin=nothing, stdout=log, stderr=log, cwd=folder.path, pass_fds=[lock],
            env=dict(os.environ, **environment),
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        os.close(tell)
        tell = -1
        exit_status = run.wait()
        with open(folder.file("end.new"), "w", encoding="utf-8") as f:
            f.write("%d\n" % exit_status)
        os.rename(folder.file("end.new"), folder.file("end"))
    except BaseException as err:  # it has nobody else to say it to
        if tell >= 0:
            os.write(tell, str(err).encode())
    os._exit(0 if exit_status == 0 else 1)


def prepared(module, folder):
    if os.path.lexists(folder.path) and not folder.ours():
        module.fail_json(msg="%s is there, and no run's folder of this user: choose another directory" % folder.path)
    there = os.path.lexists(folder.path)
    if not there and not module.check_mode:
        folder.make()
    if module.params["state"] == "prepared":
        module.exit_json(changed=not there, begun="", status=folder.status())


def write_study(module, folder):
    """The study's files stand below the folder, wherever they stood before."""
    for name, text in module.params["files"].items():
        if os.path.isabs(name) or ".." in name.split("/"):
            module.fail_json(msg="the study's file %r would lie outside of its folder" % name)
        path = os.path.join(folder.file("study"), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


def started(module, folder):
    p = module.params
    asked = {"study": p["study"], "files": p["files"], "seed": p["seed"], "arguments": p["arguments"]}
    before = folder.text("request.json")
    if before and json.loads(before) != asked:
        module.fail_json(msg="%s holds a run of other arguments or another study: give this one another name" % folder.path)
    status = folder.status()
    if folder.runs() or status == "done":
        module.exit_json(changed=False, begun="", status=status)
    begun = "resumed" if status else "new"
    if module.check_mode:
        module.exit_json(changed=True, begun=begun, status=status)
    if not os.access(p["program"], os.X_OK):
        module.fail_json(msg="there is no program %s: the role program installs it" % p["program"])
    write_study(module, folder)
    if status:
        command = [p["program"], "run", "--resume", "record"]
    else:
        if os.path.lexists(folder.file("record")):
            shutil.rmtree(folder.file("record"))  # begun, and without a word
        study = "./study/" + p["study"] if p["study"] in p["files"] else p["study"]
        command = [p["program"], "run", study, "-o", "record"] + p["arguments"]
        if p["seed"] is not None:
            command.append("--seed=%d" % p["seed"])
    command += ["--progress", "plain"]
    if os.path.lexists(folder.file("end")):
        os.remove(folder.file("end"))
    with open(folder.file("request.json"), "w", encoding="utf-8") as f:
        json.dump(asked, f)
    why = launch(folder, command, {k: str(v) for k, v in p["environment"].items()})
    if why:
        module.fail_json(msg="the run could not be begun: " + why)
    module.exit_json(changed=True, begun=begun, status=status)


def absent(module, folder):
    if not os.path.lexists(folder.path):
        module.exit_json(changed=False, begun="", status="")
    if not folder.ours():
        module.fail_json(msg="%s is no run's folder of this user: it is left as it is" % folder.path)
    if folder.runs():
        module.fail_json(msg="the run in %s goes on: it is left as it is" % folder.path)
    if not module.check_mode:
        shutil.rmtree(folder.path)
        try:
            os.rmdir(os.path.dirname(folder.path))
        except OSError:
            pass  # there are others
    module.exit_json(changed=True, begun="", status="")


def main():
    module = AnsibleModule(
        argument_spec={
            "directory": {"type": "path", "required": True},
            "state": {"type": "str", "choices": ["started", "prepared", "absent"], "default": "started"},
            "study": {"type": "str"},
            "files": {"type": "dict", "default": {}},
            "program": {"type": "path", "default": "/usr/local/bin/plimsoll"},
            "seed": {"type": "int"},
            "arguments": {"type": "list", "elements": "str", "default": []},
            "environment": {"type": "dict", "default": {}, "no_log": True},
        },
        required_if=[("state", "started", ["study"])],
        supports_check_mode=True,
    )
    folder = Folder(os.path.normpath(module.params["directory"]))
    if module.params["state"] == "absent":
        absent(module, folder)
    prepared(module, folder)
    started(module, folder)


if __name__ == "__main__":
    main()
