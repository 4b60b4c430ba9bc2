package workload

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// Each file below testdata/bad has beside it what the reader must say.
func TestBadFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			data, err := os.ReadFile(f)
			require.NoError(t, err)
			_, err = Read(filepath.Base(f), data)
			if err == nil {
				t.Fatal("it was read")
			}
			got := err.Error() + "\n"
			want := strings.TrimSuffix(f, ".yaml") + ".err"
			if *update {
				require.NoError(t, os.WriteFile(want, []byte(got), 0o600))
			}
			b, err := os.ReadFile(want)
			require.NoError(t, err)
			if got != string(b) {
				t.Errorf("got\n%s\nwant\n%s", got, b)
			}
		})
	}
}

// Every embedded file is a workload that can be shown, has a description and
// small levels where it has parameters of size, and agrees with the others on
// what a metric is.
func TestCatalogue(t *testing.T) {
	require.NoError(t, Broken())
	all := Catalogue()
	if len(all) < 10 {
		t.Fatalf("only %d workloads", len(all))
	}
	names := map[string]bool{}
	metrics := map[string]record.Metric{}
	from := map[string]string{}
	for _, w := range all {
		if names[w.Name] {
			t.Errorf("two workloads are called %s", w.Name)
		}
		names[w.Name] = true
		for name := range w.Parameters {
			if w.file != nil && w.About[name] == "" {
				t.Errorf("%s: nothing says what parameter %s is", w.Name, name)
			}
		}
		if _, err := w.Instance(w.Small); err != nil {
			t.Errorf("%s in small size: %v", w.Name, err)
		}
		for _, m := range w.Metrics {
			before, ok := metrics[m.ID]
			if !ok {
				metrics[m.ID], from[m.ID] = m, w.Name
				continue
			}
			if before.Unit != m.Unit || before.Better != m.Better {
				t.Errorf("metric %s is in %s (%s is better) in %s, and in %s (%s) in %s",
					m.ID, m.Unit, m.Better, w.Name, before.Unit, before.Better, from[m.ID])
			}
		}
	}
}

func TestReferences(t *testing.T) {
	const text = `plimsoll-workload: 1
name: pair
what: A pair.
group: network
image: toolbox
parameters:
  size: {levels: ["1", "2"], number: {min: 1, max: 9}}
  mode: {levels: [a, b]}
env: ["SIZE=${size}"]
roles:
  server: {serve: [[srv, "${size}"]], ready: {port: 80}, pod: p}
  client:
    env: ["AT=${server.address}"]
    prepare: [{when: {mode: b}, args: [only-b]}]
    run: [get, "http://${server.address}/${size}", "$${literal}", {when: {mode: b}, args: [-b]}]
metrics:
  - {id: x-rate, unit: ops/s, better: higher, what: X., json: x}
`
	w, err := Read("pair.yaml", []byte(text))
	require.NoError(t, err)
	i, err := w.Instance(map[string]string{"size": "7", "mode": "b"})
	require.NoError(t, err)
	p := i.Plan
	if len(p.Roles) != 2 || !p.Needs.Network || p.Roles[0].Pod != "p" {
		t.Fatalf("the plan is %+v", p)
	}
	if _, err := p.Roles[1].Resolve(nil); err == nil {
		t.Error("an address that nobody has was put in")
	}
	client, err := p.Roles[1].Resolve(map[string]string{"server": "10.0.0.2"})
	require.NoError(t, err)
	got := strings.Join(client.Task.Steps[len(client.Task.Steps)-1].Argv, " ")
	if want := "get http://10.0.0.2/7 ${literal} -b"; got != want {
		t.Errorf("run is %q, want %q", got, want)
	}
	if got := strings.Join(client.Env, " "); got != "SIZE=7 AT=10.0.0.2" {
		t.Errorf("the environment is %q", got)
	}
	if len(client.Task.Steps) != 2 {
		t.Errorf("the client has %d steps, want prepare and main", len(client.Task.Steps))
	}
	a, err := w.Instance(map[string]string{"mode": "a"})
	require.NoError(t, err)
	if n := len(a.Plan.Roles[1].Task.Steps); n != 1 {
		t.Errorf("with mode a the client has %d steps: what is for b only must be left out", n)
	}
	for _, bad := range []map[string]string{{"size": "0"}, {"size": "10"}, {"size": "07"}, {"mode": "c"}, {"none": "1"}} {
		if _, err := w.Instance(bad); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
}

func TestValues(t *testing.T) {
	plan := func(x Extract) *Plan {
		x.Metric.ID = "m"
		return &Plan{Roles: []Role{{Name: mainRole}}, Metrics: []Extract{x}}
	}
	value := func(x Extract, out string) (float64, error) {
		v, err := plan(x).Values(map[string][]byte{mainRole: []byte(out)})
		return v["m"], err
	}
	good := []struct {
		x    Extract
		out  string
		want float64
	}{
		{Extract{JSON: "a.1.b"}, `{"a":[{}, {"b": 4}]}`, 4},
		{Extract{JSON: "a.#.b", All: "sum"}, `{"a":[{"b":1},{"b":2.5}]}`, 3.5},
		{Extract{JSON: `a\.b`}, `{"a.b": "7"}`, 7},
		{Extract{Regexp: `x=(\S+)`}, "x=1 x=2", 2},
		{Extract{Regexp: `x=(\S+)`, All: "first", Scale: 1000}, "x=1 x=2", 1000},
		{Extract{Regexp: `x=(\S+)`, All: "mean"}, "x=1 x=2", 1.5},
		{Extract{Regexp: `x=(\S+)`, All: "min"}, "x=1 x=2", 1},
		{Extract{Regexp: `x=(\S+)`, All: "max"}, "x=3 x=2", 3},
	}
	for _, c := range good {
		if got, err := value(c.x, c.out); err != nil || got != c.want {
			t.Errorf("%+v of %q is %g (%v), want %g", c.x, c.out, got, err, c.want)
		}
	}
	bad := []struct {
		x   Extract
		out string
	}{
		{Extract{JSON: "a"}, ""}, {Extract{JSON: "a"}, "{"}, {Extract{JSON: "a"}, `{"b":1}`}, {Extract{JSON: "a"}, `{"a":null}`},
		{Extract{JSON: "a"}, `{"a":1} {"a":2}`}, {Extract{JSON: "a"}, `{"a":-1}`}, {Extract{JSON: "a"}, `{"a":1e300}`},
		{Extract{JSON: "a"}, `{"a":"inf"}`}, {Extract{JSON: "a"}, `{"a":"0x10"}`}, {Extract{JSON: "a.#"}, `{"a":[]}`},
		{Extract{JSON: "a.5"}, `{"a":[1]}`}, {Extract{JSON: "a"}, strings.Repeat("[", 1<<20)},
		{Extract{Regexp: `x=(\S+)`}, "nothing"}, {Extract{Regexp: `x=(\S+)`}, "x=NaN"}, {Extract{Regexp: `x=(\S+)`}, "x=1_000"},
		{Extract{Regexp: `x=(\S+)`}, "x=1e999"}, {Extract{Regexp: `x=(\S+)`, Scale: 1e200}, "x=1e200"},
		{Extract{Parser: "wrk", Key: "requests"}, "Requests/sec: 0.00"}, {Extract{Parser: "ping", Key: "mean"}, "1 packets transmitted, 0 received,"},
	}
	for _, c := range bad {
		if got, err := value(c.x, c.out); err == nil {
			t.Errorf("%+v of %.40q is %g", c.x, c.out, got)
		} else if _, ok := err.(*outputError); !ok { //nolint:errorlint // the type itself is the contract
			t.Errorf("the error is a %T", err)
		}
	}
}
