package workload

import (
	"slices"
	"strings"

	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/record"
)

// Description is a workload's file for people: what each role does and where
// each metric comes from, with references and conditions as they stand there.
type Description struct {
	Roles   []RoleDescription   `json:"roles"`
	Metrics []MetricDescription `json:"metrics"`
}

// RoleDescription is one container.
type RoleDescription struct {
	Name  string            `json:"name"`
	On    string            `json:"on"` // container or host
	Pod   string            `json:"pod,omitempty"`
	Steps []StepDescription `json:"steps"`
}

// StepDescription is one key of a role with its value.
type StepDescription struct {
	Key  string `json:"key"`
	Text string `json:"text"`
}

// MetricDescription is a metric with its source; When is empty where it is
// always there.
type MetricDescription struct {
	record.Metric
	From string `json:"source"`
	When string `json:"when,omitempty"`
}

// Describe gives the description; ok is false for a workload that is no file.
func (w Workload) Describe() (d Description, ok bool) {
	f := w.file
	if f == nil {
		return d, false
	}
	for _, r := range f.allRoles() {
		out := RoleDescription{Name: r.name.Text, On: "container", Pod: r.Pod.Text}
		if r.On.At.Given() {
			out.On = r.On.Text
		}
		add := func(key, text string) {
			if text != "" {
				out.Steps = append(out.Steps, StepDescription{key, text})
			}
		}
		commands := func(key string, list ...command) {
			for _, c := range list {
				add(key, c.text())
			}
		}
		for _, e := range slices.Concat(f.Env, r.Env) {
			add("env", e.Text)
		}
		commands("prepare", r.Prepare...)
		commands("serve", r.Serve...)
		add("ready: port", r.Ready.Port.Text)
		add("ready: file", r.Ready.File.Text)
		add("ready: line", r.Ready.Line.Text)
		commands("fill", r.Fill...)
		commands("run", r.Run)
		add("input", r.Input.Text)
		add("output", r.Output.Text)
		commands("cleanup", r.Cleanup...)
		d.Roles = append(d.Roles, out)
	}
	for i := range f.Metrics {
		m := &f.Metrics[i]
		from := "json " + m.JSON.Text
		switch {
		case m.Regexp.At.Given():
			from = "regexp " + m.Regexp.Text
		case m.Parser.At.Given():
			from = "parser " + m.Parser.Text + ", " + m.Key.Text
		}
		if m.Role.At.Given() {
			from += ", of " + m.Role.Text
		}
		d.Metrics = append(d.Metrics, MetricDescription{m.metric(), from, conditions(m.When)})
	}
	for _, m := range standard {
		d.Metrics = append(d.Metrics, MetricDescription{Metric: m, From: "probe"})
	}
	for _, m := range rankMetrics {
		if w.file.Launch.at.Given() {
			d.Metrics = append(d.Metrics, MetricDescription{Metric: m, From: "events"})
		}
	}
	for _, m := range commandMetrics {
		if w.Takes(startedByParameter, startedByExec) {
			d.Metrics = append(d.Metrics, MetricDescription{m, "events", startedByParameter + "=" + startedByExec})
		}
	}
	return d, true
}

// text writes a command on one line; arguments that are there for some levels
// only stand in braces.
func (c command) text() string {
	var parts []string
	for _, p := range c.parts {
		args := make([]string, len(p.args))
		for i, a := range p.args {
			args[i] = quoted(a.Text)
		}
		s := strings.Join(args, " ")
		if p.when != nil {
			s = "{" + conditions(p.when) + ": " + s + "}"
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " ")
}

// quoted marks where an argument begins and ends, if that is not clear.
func quoted(s string) string {
	if s == "" || strings.ContainsAny(s, " \t\n\"'") {
		return "'" + strings.ReplaceAll(s, "\n", "\\n") + "'"
	}
	return s
}

func conditions(when yamlfile.Settings) string {
	parts := make([]string, len(when))
	for i, a := range when {
		parts[i] = a.Key.Text + "=" + strings.Join(texts(a.Levels.List), "|")
	}
	return strings.Join(parts, ", ")
}
