package study

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/golden"
	"plimsoll/internal/common/require"
	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/record"
)

// Every file in testdata/bad is refused with exactly the message beside it.
func TestBadStudies(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".yaml"), func(t *testing.T) {
			s, err := Load(f, catalogue())
			if err == nil {
				_, err = Expand(s, catalogue(), Options{})
			}
			if err == nil {
				t.Fatal("it was accepted")
			}
			es := onlyErrors(t, err)
			for _, e := range es.List {
				if e.Path == "" || e.What == "" || e.Line > 0 && e.Column < 1 {
					t.Errorf("%+v", e)
				}
			}
			got := strings.ReplaceAll(es.Error(), "testdata/bad/", "") + "\n"
			got = strings.ReplaceAll(got, yamlfile.OneOf(Names()), "one of BUNDLED")
			golden.Check(t, strings.TrimSuffix(f, ".yaml")+".err", got)
		})
	}
}

// hostile is what would hurt a careless reader. Each is refused with one
// error, whatever its size.
func hostile() map[string][]byte {
	random := make([]byte, 10<<20)
	rand.New(rand.NewSource(1)).Read(random)
	printable := make([]byte, 1<<20)
	r := rand.New(rand.NewSource(2))
	for i := range printable {
		printable[i] = " \n-:[]{}\"'&*!|>#%@,?abc01"[r.Intn(25)]
	}
	rep := func(s string, n int) []byte { return []byte(strings.Repeat(s, n)) }
	var stairs bytes.Buffer
	for i := 0; stairs.Len() < 1<<19; i++ {
		stairs.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return map[string][]byte{
		"10 MB of random bytes": random,
		"10 MB of spaces":       rep(" ", 10<<20),
		"random YAML signs":     printable,
		"NULs":                  rep("\x00", 1<<20),
		"brackets":              rep("[", 1<<20),
		"braces":                rep("{a: ", 1<<18),
		"dashes":                rep("- ", 1<<19),
		"question marks":        rep("? ", 1<<19),
		"stairs":                stairs.Bytes(),
		"documents":             rep("---\n", 1<<18),
		"comments":              rep("#\n", 1<<19),
		"quote":                 append([]byte{'"'}, rep("a ", 1<<19)...),
		"one word":              rep("a", 1<<20),
		"anchors":               rep("- &a x\n", 1<<17),
		"byte order marks":      rep("\ufeff", 1<<18),
		"empty":                 nil,
	}
}

func TestHostile(t *testing.T) {
	for name, data := range hostile() {
		t.Run(name, func(t *testing.T) {
			_, err := Read(Source{Path: "h.yaml", Data: data}, catalogue())
			if err == nil {
				t.Fatal("it was accepted")
			}
			es := onlyErrors(t, err)
			if msg := es.Error(); len(msg) > 4000 || strings.ContainsAny(msg, "\x00\x1b") {
				t.Errorf("the message has %d bytes: %.200q", len(msg), msg)
			}
			if len(es.List) > 1 {
				t.Errorf("%d errors for one thing: %v", len(es.List), es)
			}
		})
	}
}

// A study that is large, valid in its syntax and wrong everywhere is bounded.
func TestManyKeys(t *testing.T) {
	var b strings.Builder
	b.WriteString("plimsoll: 1\nname: t\n")
	for i := 0; b.Len() < yamlfile.MaxBytes/4; i++ {
		fmt.Fprintf(&b, "key%d: 1\n", i)
	}
	_, err := read(t, b.String())
	if es := onlyErrors(t, err); len(es.List) != yamlfile.MaxErrors || es.More < 10_000 {
		t.Errorf("%d errors and %d more", len(es.List), es.More)
	}
}

func TestFull(t *testing.T) {
	s := mustRead(t, `plimsoll: 1
name: full.study_1
title: "A title"
description: |
  Two
  lines.
protocol:
  blocks: 20
  warmup: 0
  per-block: 2
  pause: 1m0.5s
  seed: 9007199254740991
  order: sequential
  cache: cold
  trial-limit: 1500ms
  delta: 2.5%
  limits: {cpus: 0.5, memory: 1.5GiB}
common: {network: none, image: default}
workloads: [hello, {name: stop, parameters: {on-term: [exit, ignore]}}]
baselines: [native]
environments:
  - docker
  - {engine: [docker, podman], runtime: [runc, crun], network: host, as: [a, b]}
exclude:
  - when: {engine: podman, runtime: [crun, runc], workload: stop}
    because: It is so.
    source: https://example.org/why
metrics: [startup, whole]
sort: whole
`)
	s.Source, s.at = "", yamlfile.Pos{}
	for i := range s.Parts[0].Environments {
		s.Parts[0].Environments[i].at = yamlfile.Pos{}
	}
	want := &Study{
		Name: "full.study_1", Title: "A title", Description: "Two\nlines.",
		Protocol: record.Protocol{
			Blocks: 20, Warmup: 0, PerBlock: 2, PauseNS: int64(60500 * time.Millisecond), Seed: MaxSeed, Order: "sequential", Cache: "cold",
			TrialLimitNS: int64(1500 * time.Millisecond), Delta: 0.025, CPUs: 0.5, MemoryBytes: 3 << 29,
		},
		Common: map[string]string{"network": "none", "image": "default"}, Limits: map[string][]string{"cpu-limit": {"0.5"}, "memory-limit": {"1536MiB"}}, Baselines: []string{"native"},
		Parts: []Part{{
			Workloads: []Workload{{Name: "hello"}, {Name: "stop", Parameters: []Axis{{"on-term", []string{"exit", "ignore"}}}}},
			Environments: []Entry{
				{Engines: []string{"docker"}},
				{Engines: []string{"docker", "podman"}, Factors: []Axis{{"runtime", []string{"runc", "crun"}}, {"network", []string{"host"}}}, As: []string{"a", "b"}},
			},
		}},
		Exclude: []Rule{{When: map[string][]string{"engine": {"podman"}, "runtime": {"crun", "runc"}, "workload": {"stop"}}, Because: "It is so.", Source: "https://example.org/why"}},
		Metrics: []string{"startup", "whole"}, Sort: "whole",
	}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got\n%+v\nwant\n%+v", s, want)
	}
}

func TestDefaults(t *testing.T) {
	s := mustRead(t, "plimsoll: 1\nname: t\nworkloads: [hello]\nenvironments: [docker]\nprotocol: {limits: {memory: none}}\n")
	want := record.Protocol{Blocks: 10, Warmup: 1, PerBlock: 1, Order: "random", Cache: "warm", CPUs: 1, TrialLimitNS: int64(30 * time.Second), Delta: 0.01}
	if !reflect.DeepEqual(s.Protocol, want) {
		t.Errorf("%+v", s.Protocol)
	}
	if !reflect.DeepEqual(s.Baselines, []string{"native", "floor", "host"}) {
		t.Errorf("%v", s.Baselines)
	}
	for in, bytes := range map[string]int64{"2000kB": 2e6, "3MB": 3e6, "1GB": 1e9, "1TB": 1e12, "1048576B": 1 << 20, "1024KiB": 1 << 20, "1MiB": 1 << 20, "0.5GiB": 1 << 29, "2TiB": 2 << 40} {
		if s := mustRead(t, "plimsoll: 1\nname: t\nworkloads: [hello]\nenvironments: [docker]\nprotocol: {limits: {memory: "+in+"}}\n"); s.Protocol.MemoryBytes != bytes {
			t.Errorf("%s is %d bytes", in, s.Protocol.MemoryBytes)
		}
	}
}

func TestExtends(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	write(t, dir, "sub/base.yaml", `plimsoll: 1
name: base
title: Base
protocol: {blocks: 30, pause: 1s, limits: {cpus: 2, memory: none}}
common: {network: none, client: cli}
workloads: [hello]
environments: [docker]
exclude: [{when: {runtime: runc}, because: one}]
`)
	write(t, dir, "sub/middle.yaml", "plimsoll: 1\nname: middle\nextends: ./base.yaml\nworkloads: [stop]\nprotocol: {blocks: 31}\n")
	path := write(t, dir, "top.yaml", `plimsoll: 1
name: top
extends: sub/middle.yaml
protocol: {warmup: 3, limits: {cpus: 3}}
common: {network: host}
environments: [podman]
exclude: [{when: {runtime: crun}, because: two}]
`)
	s, err := Load(path, catalogue())
	require.NoError(t, err)
	p := s.Protocol
	if s.Name != "top" || s.Title != "Base" || p.Blocks != 31 || p.Warmup != 3 || p.PauseNS != 1e9 || p.CPUs != 3 || p.MemoryBytes != 0 {
		t.Errorf("%+v", s)
	}
	if !reflect.DeepEqual(s.Common, map[string]string{"network": "host", "client": "cli"}) ||
		len(s.Parts) != 1 || len(s.Parts[0].Workloads) != 1 || s.Parts[0].Workloads[0].Name != "stop" || len(s.Parts[0].Environments) != 1 || s.Parts[0].Environments[0].Engines[0] != "podman" || len(s.Exclude) != 2 {
		t.Errorf("%+v", s)
	}
	for _, text := range []string{"name: top", "name: middle", "name: base"} {
		if !strings.Contains(s.Source, text) {
			t.Errorf("the source lacks %q", text)
		}
	}

	bundled := write(t, dir, "q.yaml", "plimsoll: 1\nname: q\nextends: demo\nprotocol: {blocks: 3}\n")
	if s, err := Load(bundled, catalogue()); err != nil || len(s.Parts[0].Environments) == 0 || s.Protocol.Blocks != 3 {
		t.Errorf("%+v, %v", s, err)
	}
}

// A chain of studies ends, and a symbolic link does not lead out of the folder.
func TestExtendsStaysInside(t *testing.T) {
	out, dir := t.TempDir(), t.TempDir()
	secret := write(t, out, "secret.yaml", "secret: word\n")
	require.NoError(t, os.Symlink(secret, filepath.Join(dir, "link.yaml")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "dir.yaml"), 0o700))
	for i := range 12 {
		write(t, dir, fmt.Sprintf("c%d.yaml", i), fmt.Sprintf("plimsoll: 1\nname: c\nextends: ./c%d.yaml\n", i+1))
	}
	for ref, want := range map[string]string{
		"./link.yaml": "escapes", "./dir.yaml": "not a regular file", "./c0.yaml": "a chain of at most 8",
	} {
		_, err := Load(write(t, dir, "x.yaml", "plimsoll: 1\nname: x\nextends: "+ref+"\n"), catalogue())
		if es := onlyErrors(t, err); !strings.Contains(es.Error(), want) || strings.Contains(es.Error(), "secret") || len(es.List) != 1 {
			t.Errorf("%s: %v", ref, err)
		}
	}
	_, err := Read(Source{Path: "memory", Data: []byte("plimsoll: 1\nname: x\nextends: ./x.yaml\n")}, catalogue())
	if es := onlyErrors(t, err); !strings.Contains(es.Error(), "not a file in a folder") {
		t.Error(es)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	bundled := yamlfile.OneOf(Names())
	for in, want := range map[string]string{
		"qiuck":         `no bundled study "qiuck", expected ` + bundled + `, or the path of a file, such as ./my.yaml; did you mean "quick"?`,
		"":              `no bundled study "", expected ` + bundled + `, or the path of a file, such as ./my.yaml`,
		"../quick":      `../quick: can't read the study: no such file or directory`,
		"nonesuch.yaml": `nonesuch.yaml: can't read the study: no such file or directory`,
		dir + "/":       dir + "/: can't read the study: it is not a regular file but a directory",
	} {
		_, err := Load(in, catalogue())
		if es := onlyErrors(t, err); es.Error() != want {
			t.Errorf("%q\n got %s\nwant %s", in, es, want)
		}
	}
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("no /dev/zero: an endless file can't be tried")
	}
	if _, err := Load("/dev/zero", catalogue()); !strings.Contains(onlyErrors(t, err).Error(), "not a regular file but a device") {
		t.Error(err)
	}
}

func FuzzRead(f *testing.F) {
	for _, glob := range []string{"testdata/bad/*.yaml", "../../../studies/*.yaml"} {
		files, err := filepath.Glob(glob)
		if err != nil || len(files) == 0 {
			f.Fatalf("no seeds in %s: %v", glob, err)
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			require.NoError(f, err)
			f.Add(data)
		}
	}
	cat := catalogue()
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Read(Source{Path: "fuzz.yaml", Data: data}, cat)
		if err != nil {
			onlyErrors(t, err)
			return
		}
		p, err := Expand(s, cat, Options{})
		if err != nil {
			onlyErrors(t, err)
			return
		}
		seen := map[string]bool{}
		for _, e := range p.Environments {
			if seen[e.ID] {
				t.Fatalf("%s twice", e.ID)
			}
			seen[e.ID] = true
		}
		if n := p.Trials(); n > 0 {
			p.Trial(0)
			p.Trial(n - 1)
		}
		var run record.Run
		run.Format = record.FormatVersion
		p.Record(&run)
		if len(p.Cells) > 0 {
			if _, err := FromRun(&run); err != nil {
				t.Fatal(err)
			}
		}
	})
}
