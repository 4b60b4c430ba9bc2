package build

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/measure/engine"
)

// A level may be a configuration: of the program on the PATH, or of one that is named.
func TestBindConfiguration(t *testing.T) {
	dir := programs(t)
	for name, text := range map[string]string{"a.json": `{"x": 1}`, "b.json": `{"x": 2}`, "bad.json": "{\n", "x.toml": "x = 1\n", "containers.conf": "[engine]\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	known := []engine.Program{{Name: "crun"}, {Name: "runc", Files: []string{"daemon.json"}, Elsewhere: map[string]string{"other.json": "say it in daemon.json"}, Variables: true},
		{Name: "podman", Helps: "Manage pods", Files: []string{"containers.conf", "storage.conf"}}}
	look := func(name string) (string, error) {
		if name == "podman" {
			return "", exec.ErrNotFound
		}
		return filepath.Join(dir, name), nil
	}
	for _, c := range []struct{ texts, want, wrong string }{
		{"runc:a=a.json", "runc:a=RUNC runc:a=daemon.json=DIR/a.json", ""},
		{"runc:a=daemon.json=x.toml", "", "x.toml:1: expected a JSON object, as a daemon.json is"},
		{"runc:a=./runc runc:a=a.json runc:a=GOGC=off runc:a=GOGC=off", "runc:a=RUNC runc:a=daemon.json=DIR/a.json runc:a=GOGC=off", ""},
		{"runc:a=GOGC=off", "runc:a=RUNC runc:a=GOGC=off", ""},
		{"podman:a=podman podman:a=containers.conf", "podman:a=PODMAN podman:a=containers.conf=DIR/containers.conf", ""},
		{"podman:a=containers.conf", "", "podman is not on your PATH; name the program too: --build podman:a=PATH"},
		{"runc:a=a.json runc:a=b.json", "", "the daemon.json of runc:a is bound twice, to DIR/a.json before"},
		{"runc:a=GOGC=off runc:a=GOGC=1", "", "GOGC of runc:a is set twice, to GOGC=off before"},
		{"runc:a=bad.json", "", "DIR/bad.json:1: expected a JSON object"},
		{"runc:a=none.json", "", "DIR/none.json is not there"},
		{"runc:a=daemon.json=.", "", "is a directory; name the file in it"},
		{"runc:a=daemon.json=pipe", "", "pipe is not a regular file"},
		{"runc:a=daemon.json=", "", "expected a path behind daemon.json="},
		{"runc:a=storage.conf=a.json", "", `runc takes no file "storage.conf"; it takes daemon.json`},
		{"runc:a=other.json", "", "runc takes no other.json: say it in daemon.json"},
		{"runc:a=other.json=a.json", "", "runc takes no other.json: say it in daemon.json"},
		{"crun:a=daemon.json=a.json", "", "crun takes no configuration file"},
		{"crun:a=GOGC=1", "", "crun has its environment from what calls it, so that GOGC can't be set for it"},
		{"runc:a=PATH=/x", "", "PATH is set by Plimsoll itself"},
		{"runc:a=daemon.json=a.json@sha256:" + strings.Repeat("0", 64), "", "is another file than before"},
	} {
		var asked []Asked
		var err error
		for text := range strings.FieldsSeq(c.texts) {
			var a Asked
			if a, err = Parse(text, "--build", dir); err != nil {
				break
			}
			asked = append(asked, a)
		}
		var got []string
		if err == nil {
			list, bound := Bind(t.Context(), asked, known, look)
			if err = bound; err == nil && len(list) == 1 {
				got = Texts(list[0])
			}
		}
		if c.wrong != "" {
			if want := strings.ReplaceAll(c.wrong, "DIR", dir); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v, not %q", c.texts, err, want)
			}
			continue
		}
		for i, g := range got {
			got[i] = digest.ReplaceAllString(g, "")
		}
		want := strings.NewReplacer("RUNC", dir+"/runc", "PODMAN", dir+"/podman", "DIR", dir).Replace(c.want)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v %v, not %q", c.texts, got, err, want)
		}
	}
}

// A file of builds says a configuration in words.
func TestReadConfiguration(t *testing.T) {
	list, err := Read("/d/b.yaml", []byte("plimsoll-builds: 1\nbuilds:\n  dockerd:\n    a: /opt/dockerd\n    b: {files: {daemon.json: ./b.json}, env: {GOGC: 'off', N: 1}}\n    c: {program: x=y, env: {GOGC: 50}}\n    d: {}\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range list {
		got = append(got, a.Level+" "+a.File+" "+a.Path+" "+a.Variable)
	}
	if want := []string{"a  /opt/dockerd ", "b daemon.json /d/b.json ", "b   GOGC=off", "b   N=1", "c  /d/x=y ", "c   GOGC=50", "d   "}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for text, want := range map[string]string{
		"plimsoll-builds: 1\nbuilds:\n  x:\n    a: {env: {gogc: 1}}":      "b.yaml:4:15: \"gogc\" is not the name of a variable",
		"plimsoll-builds: 1\nbuilds:\n  x:\n    a: {files: {GOGC: 1}}":    "b.yaml:4:17: \"GOGC\" is not the name of a configuration file",
		"plimsoll-builds: 1\nbuilds:\n  x:\n    a: {file: {x.json: 1}}":   "did you mean \"files\"?",
		"plimsoll-builds: 1\nbuilds:\n  x:\n    a: {env: {}}":             "b.yaml:4:",
		"plimsoll-builds: 1\nbuilds:\n  x:\n    A: {}":                    "b.yaml:4:5: \"A\" is not a name for a build",
		"plimsoll-builds: 1\nbuilds:\n  x:\n    a: {files: {x.json: ''}}": "b.yaml:4:",
	} {
		if _, err := Read("b.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, not %q", text, err, want)
		}
	}
}
