package fleet

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
)

func TestTargets(t *testing.T) {
	for _, c := range []struct{ given, want, name, err string }{
		{given: "ssh://node1", want: "ssh://node1", name: "node1"},
		{given: "ssh://lab@10.0.0.1:2222", want: "ssh://lab@10.0.0.1:2222", name: "10.0.0.1-2222"},
		{given: "lab@node", want: "ssh://lab@node", name: "node"},
		{given: "ssh://root@[fe80::1]:22", want: "ssh://root@[fe80::1]:22", name: "fe80--1-22"},
		{given: "ssh://[::1]", want: "ssh://[::1]", name: "1"},
		{given: "ssh://me@corp.example@node:22", want: "ssh://me@corp.example@node:22", name: "node-22"},
		{given: "ssh://me+lab@[::1]:22", want: "ssh://me+lab@[::1]:22", name: "1-22"},
		{given: "ssh://$(reboot)@node", err: "user's name"},
		{given: "ssh://%n@node", err: "user's name"},
		{given: "ssh://-oProxyCommand=x", err: "is not a host"},
		{given: "ssh://-lroot@x", err: "user's name"},
		{given: "ssh://a b", err: "is not a host"},
		{given: "ssh://a;reboot", err: "is not a host"},
		{given: "ssh://a:0", err: "port"},
		{given: "ssh://a:x", err: "port"},
		{given: "ssh://[::1]22", err: "colon"},
		{given: "", err: "is not a host"},
		{given: "%h", err: "is not a host"},
	} {
		got, err := parseTarget(c.given)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: %v, want %q", c.given, err, c.err)
			}
			continue
		}
		if err != nil || got.String() != c.want || got.Name != c.name {
			t.Errorf("%q: %v named %q, %v", c.given, got, got.Name, err)
		}
		if again, err := parseTarget(got.String()); err != nil || again != got {
			t.Errorf("%q is read again as %v, %v", c.given, again, err)
		}
	}
}

func TestHostsFile(t *testing.T) {
	const good = `plimsoll-hosts: 1
become: true
hosts:
  - address: ssh://lab@10.0.0.11
    name: board
  - address: node2:2222
    become: false
  - address: node3
groups:
  arm: [board]
  all: [node3, board]
`
	path := filepath.Join(t.TempDir(), "hosts.yaml")
	for _, c := range []struct{ text, group, want, err string }{
		{good, "", "board+ node2-2222 node3+", ""},
		{good, "#arm", "board+", ""},
		{good, "#arm,all", "board+ node3+", ""},
		{good, "#x86", "", `no group "x86"`},
		{strings.Replace(good, "name: board", "name: ../up", 1), "", "", "hosts.yaml:5:11"},
		{strings.Replace(good, "node3\ngroups", "board\ngroups", 1), "", "", "hosts.yaml:8:14"},
		{strings.Replace(good, "[board]", "[bord]", 1), "", "", `did you mean "board"`},
		{"plimsoll-hosts: 2\nhosts: []\n", "", "", "hosts.yaml:"},
	} {
		require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
		all, err := ReadHosts(path + c.group)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s%s: %v, want %q", c.text, c.group, err, c.err)
			}
			continue
		}
		var got []string
		for _, h := range all {
			got = append(got, h.Name+map[bool]string{true: "+"}[h.Become])
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, %v, want %s", c.group, got, err, c.want)
		}
	}
}

// Lines of df -Pk of coreutils and BusyBox; one file system has spaces in its name.
func TestAvailable(t *testing.T) {
	for line, want := range map[string]int64{
		"/dev/vda1      41152736 20576368  18459584      53% /":    18459584,
		"tmpfs              2048        0      2048       0% /run": 2048,
		"my nas:/a b    10 5 5 50% /mnt":                           5,
		"overlay 1 2 - - /":                                        -1,
		"":                                                         -1,
		"Filesystem 1024-blocks Used Available Capacity Mounted on": -1,
	} {
		if got, ok := available(line); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %d %v, want %d", line, got, ok, want)
		}
	}
}

// A host that sends what is no record's can't write elsewhere.
func TestHostileFrames(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(dir, "outside")
	record := filepath.Join(dir, "record")
	require.NoError(t, os.MkdirAll(record, 0o755))
	require.NoError(t, os.Symlink(dir, filepath.Join(record, "link")))
	for _, line := range []string{
		`{"file":"../outside","size":1,"anew":true}`, `{"file":"/tmp/outside","size":1}`, `{"file":"link/outside","size":1,"anew":true}`,
		`{"file":"a/../../outside","size":1}`, `{"file":".lock","size":1}`, `{"file":".ssh/authorized_keys","size":1,"anew":true}`, `{"file":"a/.b/c","size":1,"anew":true}`, `{"file":"report.html","size":1}`, `{"file":"a\u0000b","size":1}`,
		`{"file":"x","size":-1}`, `{"file":"x","at":-1}`, `{"size":1}`, `nonsense`, strings.Repeat("x", 2*maxLine),
	} {
		root, err := os.OpenRoot(record)
		require.NoError(t, err)
		over, err := receive(bufio.NewReaderSize(strings.NewReader(line+"\nX{\"over\":{\"exit\":0}}\n"), maxLine), root, nil)
		if err == nil {
			t.Errorf("%.60s: taken, and then %v", line, over)
		}
		require.NoError(t, root.Close())
		if _, err := os.Lstat(outside); err == nil {
			t.Fatalf("%s: wrote elsewhere", line)
		}
	}
}

// What was cut off is gone on with, what is another file comes as a whole, and what
// was damaged on the way is fetched again.
func TestSendAndReceive(t *testing.T) {
	far, near := filepath.Join(t.TempDir(), "abcdefgh"), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write(far+"/record/run.json", "{}")
	write(far+"/record/trials.jsonl", "one\ntwo\n")
	write(far+"/record/output/1.txt", "printed")
	write(far+"/record/report.html", "<script>")
	write(far+"/record/a/.b/c", "hidden")
	write(far+"/log", "said")
	write(far+"/"+endName, "6\n")
	write(near+"/trials.jsonl", "one\n")
	write(near+"/output/1.txt", "damage!")
	root, err := os.OpenRoot(near)
	require.NoError(t, err)
	defer root.Close()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	defer log.Close()
	ask := `{"trials.jsonl":{"size":4,"sum":"` + mustSum(t, "one\n") + `"},"output/1.txt":{"size":7,"sum":"` + mustSum(t, "damage!") + `"}}`
	var sent bytes.Buffer
	require.NoError(t, (&Here{far}).Send(strings.NewReader(ask), &sent))
	if strings.Contains(sent.String(), "one\n") {
		t.Error("what was there was sent again")
	}
	over, err := receive(bufio.NewReaderSize(bytes.NewReader(sent.Bytes()), maxLine), root, log)
	if err != nil || over == nil || over.Exit != 6 || over.Cut {
		t.Fatalf("%+v, %v", over, err)
	}
	for name, want := range map[string]string{"run.json": "{}", "trials.jsonl": "one\ntwo\n", "output/1.txt": "printed"} {
		if got, err := os.ReadFile(filepath.Join(near, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if got, err := os.ReadFile(log.Name()); err != nil || string(got) != "said" {
		t.Errorf("log: %q, %v", got, err)
	}
	for _, name := range []string{"report.html", "a"} {
		if _, err := os.Lstat(filepath.Join(near, name)); err == nil {
			t.Errorf("%s of the host has come along", name)
		}
	}
	torn := bytes.Replace(sent.Bytes(), []byte("printed"), []byte("prinTed"), 1)
	if _, err := receive(bufio.NewReaderSize(bytes.NewReader(torn), maxLine), root, log); !errors.Is(err, errTorn) {
		t.Errorf("damaged on the way: %v", err)
	}
	if _, err := os.Lstat(near + "/output/1.txt"); err == nil {
		t.Error("the damaged file is kept")
	}
}

func mustSum(t *testing.T, text string) string {
	t.Helper()
	s, err := digest(strings.NewReader(text))
	require.NoError(t, err)
	return s
}

// A folder is ours only by its ledger, its owner and its mode.
func TestOpenHere(t *testing.T) {
	for _, c := range []struct {
		ledger string
		mode   os.FileMode
		ok     bool
	}{{"abcdefgh\n", 0o700, true}, {"abcdefgi\n", 0o700, false}, {"", 0o700, false}, {"abcdefgh\n", 0o755, false}} {
		dir := filepath.Join(t.TempDir(), "abcdefgh")
		require.NoError(t, os.Mkdir(dir, c.mode))
		require.NoError(t, os.WriteFile(filepath.Join(dir, ledgerName), []byte(c.ledger), 0o600))
		h, err := OpenHere(dir)
		if (err == nil) != c.ok {
			t.Errorf("%q, %v: %v", c.ledger, c.mode, err)
		}
		if h != nil && c.ok {
			if err := h.Remove(); err != nil {
				t.Error(err)
			}
			if _, err := os.Lstat(dir); err == nil {
				t.Error("the folder is there")
			}
		}
	}
}

// TestRemoveByALink: what is mounted in a folder is in the way, also where a link leads to it.
func TestRemoveByALink(t *testing.T) {
	home, victim := filepath.Join(t.TempDir(), "home"), t.TempDir()
	require.NoError(t, os.Symlink(t.TempDir(), home))
	h := &Here{filepath.Join(home, "abcdefgh")}
	require.NoError(t, os.MkdirAll(h.Record(), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(victim, "kept"), nil, 0o600))
	if err := unix.Mount(victim, h.Record(), "", unix.MS_BIND, ""); err != nil {
		t.Skipf("mounting is not allowed here: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(h.Record(), unix.MNT_DETACH) })
	if err := h.Remove(); err == nil || !strings.Contains(err.Error(), "something is mounted at") {
		t.Errorf("a mount in the way: %v", err)
	}
	if _, err := os.Stat(filepath.Join(victim, "kept")); err != nil {
		t.Errorf("what a mount leads to is gone: %v", err)
	}
}

// A program for another processor, or none, is refused.
func TestPrograms(t *testing.T) {
	own, err := os.Executable()
	require.NoError(t, err)
	p := &Programs{Own: own, Called: own, Given: map[string]string{"arm64": own}}
	if _, err := p.For("arm64"); err == nil || !strings.Contains(err.Error(), "the host is arm64") {
		t.Errorf("%v", err)
	}
	p.Given = nil
	if _, err := p.For("arm64"); err == nil || !strings.Contains(err.Error(), "its processor is arm64") {
		t.Errorf("%v", err)
	}
}
