package portable

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
)

// throughSSH lets the ssh of the PATH be a script, which stands for the way and for what is
// on its other side.
func throughSSH(t *testing.T, script string) Address {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ssh"), []byte("#!/bin/sh\n"+script), 0o700))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return Address{Engine: Docker, Host: "ssh://me@board:2222", From: "DOCKER_HOST"}
}

// answersPings answers any number of requests as a daemon does that is asked whether it is there.
const answersPings = `while IFS= read -r line; do
	case $line in "$(printf '\r')") printf 'HTTP/1.1 200 OK\r\nApi-Version: 1.50\r\nContent-Length: 0\r\n\r\n';; esac
done
`

// greet asks a daemon whether it answers.
func greet(t *testing.T, a Address) error {
	t.Helper()
	d, err := a.Connect("")
	require.NoError(t, err)
	defer d.Close()
	return d.Greet(t.Context())
}

// What a login prints is in the way of nothing, whether or not a line ends it.
func TestSSHGreets(t *testing.T) {
	for _, said := range []string{"", `echo "Welcome to board"; echo; echo "HTTP is served here"`, `printf "no line ends this"`} {
		if err := greet(t, throughSSH(t, said+"\n"+answersPings)); err != nil {
			t.Errorf("%s: %v", said, err)
		}
	}
}

// No proxy of the user's is asked for a connection by ssh. Go reads the variable once, so it
// is set for a process of its own.
func TestSSHNoProxy(t *testing.T) {
	const inner = "PLIMSOLL_TEST_PROXIED"
	if os.Getenv(inner) != "" {
		if err := greet(t, throughSSH(t, answersPings)); err != nil {
			t.Error(err)
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestSSHNoProxy$", "-test.v")
	cmd.Env = append(os.Environ(), inner+"=1", "HTTP_PROXY=socks5://127.0.0.1:1", "http_proxy=socks5://127.0.0.1:1")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestSSHNoProxy") {
		t.Errorf("%v: %s", err, out)
	}
}

// What is in the way is one sentence, with what helps.
func TestSSHFails(t *testing.T) {
	const at = "docker at ssh://me@board:2222 (by DOCKER_HOST) is not reached: "
	for _, c := range []struct{ script, reason, fix string }{
		{"echo 'No ED25519 host key is known for [board]:2222 and you have requested strict checking.' >&2\necho 'Host key verification failed.' >&2\nexit 255\n", at + "its host key is unknown", "compare the fingerprint"},
		{"echo '@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @' >&2\necho 'Host key verification failed.' >&2\nexit 255\n", at + "its host key is not the one that known_hosts has", "ssh-keygen -R '[board]:2222'"},
		{"echo 'me@board: Permission denied (publickey).' >&2\nexit 255\n", at + "ssh may not log in as this user with any key it has", "BatchMode"},
		{"echo 'ssh: connect to host board port 2222: Connection refused' >&2\nexit 255\n", at + "nothing listens on its ssh port", ""},
		{"echo 'sh: 1: docker: not found' >&2\nexit 127\n", "ssh says: sh: 1: docker: not found", "docker version"},
		{"echo 'This account is currently not available.'\nexit 1\n", "ssh says: This account is currently not available.", "docker version"},
	} {
		err := greet(t, throughSSH(t, c.script))
		if err == nil {
			t.Errorf("%s: it answers", c.script)
			continue
		}
		reason, fix := engine.Reason(err)
		exact := strings.HasPrefix(c.reason, at)
		if exact && reason != c.reason || !strings.Contains(reason, c.reason) || !strings.Contains(fix, c.fix) || (fix == "") != (c.fix == "") {
			t.Errorf("%s: %q, %q; want %q, %q", c.script, reason, fix, c.reason, c.fix)
		}
	}
}
