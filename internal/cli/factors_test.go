package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/factors"
)

// drive runs one command line in process.
func drive(args ...string) (status int, out, errs string) {
	var stdout, stderr bytes.Buffer
	status = Main(World{Args: args, Stdout: &stdout, Stderr: &stderr,
		Getenv: func(string) string { return "" }, Width: func() int { return 0 }})
	return status, stdout.String(), stderr.String()
}

// What a user asks of a matrix run, and of a suite with a baseline.
func TestOverheadAndFactors(t *testing.T) {
	matrix, suite := recordtest.Matrix().Write(t), recordtest.Suite().Write(t)
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"factors", matrix}, 0, "The storage driver explains 65.6 % [65.0, 66.3]"},
		{[]string{"factors", matrix, "--format", "markdown"}, 0, "| storage × files |"},
		{[]string{"factors", matrix, "--format", "csv"}, 0, ",storage,files,"},
		{[]string{"factors", matrix, "--ascii"}, 0, "storage x files"},
		{[]string{"factors", matrix, "--engine", "docker"}, 0, "engine docker"},
		{[]string{"factors", matrix, "--engine", "lxc"}, 2, "it has docker, podman"},
		{[]string{"factors", matrix, "--metric", "nothing"}, 2, "it has bootstrap"},
		{[]string{"report", suite, "--overhead"}, 0, "Overhead against native"},
		{[]string{"report", suite, "--overhead", "native"}, 0, "Overhead against native"},
		{[]string{"report", suite, "--overhead=native", "--format", "csv"}, 0, ",suite,all,"},
		{[]string{"report", suite, "--overhead=native", "--metric", "whole"}, 0, "whole, %"},
		{[]string{"report", suite, "--overhead=native", "--metric", "nothing"}, 2, "no metric"},
		{[]string{"report", suite, "--overhead=host"}, 1, "it did not run"},
		{[]string{"report", suite, "--overhead=docker"}, 2, "it can be any, native, floor, host"},
	} {
		status, out, errs := drive(c.args...)
		if status != c.status || !strings.Contains(out+errs, c.want) {
			t.Errorf("%v: status %d, want %d and %q\n%s%s", c.args, status, c.status, c.want, out, errs)
		}
	}
	_, out, _ := drive("factors", matrix, "--format", "json")
	var got struct {
		Schema  int
		Factors []factors.Factors
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Schema != analyze.Schema || len(got.Factors) != 1 || got.Factors[0].Shares[0].Factor != "storage" {
		t.Errorf("%v: %+v", err, got)
	}
	_, again, _ := drive("factors", matrix, "--format", "json")
	if again != out {
		t.Error("the same records, other bytes")
	}
}
