package web

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/page"
	"plimsoll/internal/understand/view"
)

// TestIndex is of a folder with everything that may lie in one.
func TestIndex(t *testing.T) {
	folder := t.TempDir()
	put(t, small(1), folder, "done")
	put(t, small(2), folder, "torn")
	w, _, plan := living(t, folder)
	killed := small(4)
	run := killed.Run()
	run.Status = running
	k, err := record.Create(filepath.Join(folder, "killed"), run)
	require.NoError(t, err)
	require.NoError(t, k.Close())
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(folder, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		require.NoError(t, err)
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write("torn/trials.jsonl", `{"seq":99,"bl`)
	write("broken/run.json", `{"format": 1, "id": `)
	write("newer/run.json", `{"format": 99}`)
	write("strange/run.json/x", "")
	write("foreign/README", "nothing")
	write(".hidden/run.json", `{"format": 1}`)
	write("a file", "")
	single := put(t, small(5), t.TempDir(), "single")
	empty := t.TempDir()

	x := open(t, Options{Dirs: []string{folder, single, empty}, Plan: plans(plan)})
	for i := range 7 {
		require.NoError(t, w.Append(plan[i]))
	}
	i := x.index(t)
	got := map[string]string{}
	for _, r := range i.Runs {
		got[r.Name] = r.Status
		status, _, body := x.get(t, "/runs/"+r.ID)
		if want := map[bool]int{true: 422, false: 200}[r.Status == broken]; status != want {
			t.Errorf("the page of %s: %d, not %d: %.200s", r.Name, status, want, body)
		}
		if live := strings.Contains(body, "/assets/live.js"); live != (r.Status == running || r.Killed) {
			t.Errorf("%s (%s) is followed live: %v", r.Name, r.Status, live)
		}
		status, _, body = x.get(t, "/api/runs/"+r.ID)
		if want := map[bool]int{true: 422, false: 200}[r.Status == broken]; status != want {
			t.Errorf("the data of %s: %d, not %d: %.200s", r.Name, status, want, body)
		}
	}
	want := map[string]string{"done": done, "torn": done, "live": running, "killed": interrupted, "single": done, "broken": broken, "newer": broken, "strange": broken}
	for name, status := range want {
		if got[name] != status {
			t.Errorf("%s is %q, not %q", name, got[name], status)
		}
	}
	if len(got) != len(want) {
		t.Errorf("it lists %v", got)
	}
	if len(i.Others) != 1 || i.Others[0].Name != "foreign" {
		t.Errorf("others: %+v", i.Others)
	}
	if len(i.Folders) != 3 || i.Folders[2].Problem != "" {
		t.Errorf("folders: %+v", i.Folders)
	}
	if r := x.run(t, "live"); r.Done != 7 || r.Total != len(plan) {
		t.Errorf("the live one has %d of %d", r.Done, r.Total)
	}
	// New ones appear, and those that are taken away go.
	put(t, small(6), empty, "late")
	require.NoError(t, os.RemoveAll(filepath.Join(folder, "done")))
	x.run(t, "late")
	if slices.ContainsFunc(x.index(t).Runs, func(r Summary) bool { return r.Name == "done" }) {
		t.Error("a run that is no more is listed")
	}
}

func TestRunData(t *testing.T) {
	folder := t.TempDir()
	put(t, small(1), folder, "one")
	x := open(t, Options{Dirs: []string{folder}})
	id := x.run(t, "one").ID
	var d view.Data
	x.json(t, "/api/runs/"+id, &d)
	if len(d.Envs) != len(small(1).Envs) || d.Run.ID != small(1).ID {
		t.Errorf("%+v", d.Run)
	}
	// It is built once, and who has it gets nothing.
	answer := ask(t, x, "GET", "/api/runs/"+id, "")
	again := ask(t, x, "GET", "/api/runs/"+id, "", "If-None-Match", answer.header.Get("ETag"))
	if again.status != http.StatusNotModified || x.builds.Load() != 1 {
		t.Errorf("%d, built %d times", again.status, x.builds.Load())
	}
	plain := ask(t, x, "GET", "/api/runs/"+id, "", "Accept-Encoding", "identity")
	if plain.header.Get("Content-Encoding") != "" || json.Unmarshal([]byte(plain.body), &d) != nil {
		t.Errorf("to who takes no gzip it sends %v", plain.header)
	}
	status, _, body := x.get(t, "/runs/"+id)
	if status != 200 || !strings.Contains(body, "/api/runs/"+id) || !strings.Contains(body, "/assets/plimsoll.js") {
		t.Errorf("%d %.500s", status, body)
	}
	for name, want := range map[string][]byte{"plimsoll.js": page.Script(), "plimsoll.css": page.Style()} {
		if status, _, body := x.get(t, "/assets/"+name); status != 200 || body != string(want) {
			t.Errorf("%s: %d, %d bytes, not %d", name, status, len(body), len(want))
		}
	}
}

// attack is text that does harm wherever it is taken for anything but text.
const attack = "<script>alert(1)</script><img src=x onerror=alert(2)>\x1b[31m\"'&\u202e\u2028"

// hostile puts a run into a folder that holds such text wherever text can be,
// and gives its name there. It was killed, so that it is followed live.
func hostile(t *testing.T, folder string) (name string) {
	t.Helper()
	s := small(1)
	s.Name, s.Workloads = attack, []record.Workload{{ID: attack, Title: attack, Name: attack}}
	s.Envs = slices.Clone(s.Envs)
	for i := range s.Envs {
		s.Envs[i].ID += attack
		s.Envs[i].Facts = map[string]string{"version": attack}
	}
	s.Excluded = []record.Excluded{{ID: attack, Reason: attack, Fix: attack}}
	s.Residue = []string{attack}
	dir := recordtest.Edited{Spec: s, Each: func(t *record.Trial) {
		t.Remarks = []string{attack + string([]byte{0xff, 0xfe})}
		if t.Seq%5 == 0 {
			t.Failure = &record.Failure{Class: record.Class(attack), Text: attack}
		}
	}}.Write(t)
	text, err := os.ReadFile(filepath.Join(dir, record.RunFile))
	require.NoError(t, err)
	killed := strings.Replace(string(text), `"status": "done"`, `"status": "running"`, 1)
	if err := os.WriteFile(filepath.Join(dir, record.RunFile), []byte(killed), 0o644); err != nil || killed == string(text) {
		t.Fatal("the run's status could not be changed:", err)
	}
	name = "<script>alert(3)<" + "x>\"'&"
	if err := os.Rename(dir, filepath.Join(folder, name)); err != nil {
		t.Skipf("this file system does not take such a name: %v", err)
	}
	return name
}

// TestHostileText: what containers and studies wrote, and what folders are
// called, is text on every page.
func TestHostileText(t *testing.T) {
	folder := t.TempDir()
	name := hostile(t, folder)
	x := open(t, Options{Dirs: []string{folder}})
	id := x.run(t, name).ID
	for _, path := range []string{"/", "/runs/" + id, "/api/runs", "/api/runs/" + id, "/runs/%3Cscript%3Ealert(1)%3C/script%3E", "/%3Cscript%3Ealert(1)", "/api/runs/%3Cscript%3E", "/assets/%3Cscript%3E"} {
		_, h, body := x.get(t, path)
		if text := strings.HasPrefix(h.Get("Content-Type"), "text/plain"); !text && (strings.Contains(body, "<script>alert") || strings.Contains(body, "<img src=x")) {
			t.Errorf("%s holds markup that came from a file", path)
		}
		checkHeaders(t, path, h)
	}
}

// secret lies beside the folder that is served.
const secret = "this is nobody's business"

func guarded(t testing.TB) (h http.Handler, id, outside string) {
	t.Helper()
	base := t.TempDir()
	outside = filepath.Join(base, "outside")
	folder := filepath.Join(base, "folder")
	for _, dir := range []string{outside, folder} {
		require.NoError(t, os.Mkdir(dir, 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(outside, "secret.txt"), []byte(secret), 0o644))
	s := small(1)
	s.Blocks = 2
	put(t, s, folder, "one")
	server, err := New(Options{Dirs: []string{folder}})
	require.NoError(t, err)
	server.Close() // event streams end at once
	return server.mux, server.summaries()[0].ID, outside
}

func TestTraversal(t *testing.T) {
	h, _, outside := guarded(t)
	ways := []string{"../outside/secret.txt", "..%2foutside%2fsecret.txt", "%2e%2e/outside/secret.txt", "..\\outside\\secret.txt", outside + "/secret.txt", "%00", "7", "00000007.txt", "7/../7", "+7", "-1", "99999999999999999999", ".", "..", "one", "folder/one"}
	for _, way := range ways {
		for _, path := range []string{"/runs/" + way, "/api/runs/" + way, "/api/runs/" + way + "/events", "/assets/" + way, "/" + way} {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RequestURI = path
			u, err := r.URL.Parse("http://localhost" + path)
			if err != nil {
				continue
			}
			r.URL = u
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if strings.Contains(w.Body.String(), secret) {
				t.Errorf("%s gives away what lies outside", path)
			}
			if strings.HasPrefix(path, "/api/runs/"+way) && w.Code < 300 {
				t.Errorf("%s: %d", path, w.Code)
			}
		}
	}
}

func FuzzRequests(f *testing.F) {
	h, id, _ := guarded(f)
	for _, path := range []string{"/", "/runs/", "/runs/" + id, "/api/runs", "/api/runs/" + id, "/api/runs/" + id + "/events", "/assets/web.js", "/assets/../web.js", "/%2e%2e/x", "//x"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, target string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		u, err := r.URL.Parse("http://localhost/" + strings.TrimLeft(target, "/"))
		if err != nil || u.Path == "" {
			return
		}
		r.URL = u
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code >= 500 || w.Code < 200 {
			t.Errorf("%q: %d %s", target, w.Code, w.Body)
		}
		if strings.Contains(w.Body.String(), secret) {
			t.Errorf("%q gives away what lies outside", target)
		}
		if to := w.Header().Get("Location"); strings.HasPrefix(to, "//") {
			t.Errorf("%q leads to %q", target, to)
		}
	})
}
