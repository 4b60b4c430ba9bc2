package adapter

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/kata"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// Itself is what a runtime's program says that it is. How its file is called,
// or how an engine calls it, proves nothing.
type Itself struct {
	Path    string // as the engine has it
	Program string // runc, crun, youki, runsc; empty where it did not say
	Version string
}

// AskItself asks a runtime's program, of this path and called path by its
// engine. The error is for a program that does not answer.
func AskItself(ctx context.Context, path string) (Itself, error) {
	id := Itself{Path: path}
	out, err := child.Run(ctx, child.Command{Argv: []string{path, "--version"}, Limit: engine.DetectLimit})
	if err != nil {
		return id, fmt.Errorf("asking %s what it is: %w", path, err)
	}
	id.Program, id.Version = ParseItself(string(out.Stdout))
	return id, nil
}

// Identify asks the program that the daemon with this pid runs as a runtime what it is.
// path is as the daemon has it: a relative one is found on the daemon's own PATH, since
// ours may lead to another program of this name. The zero Itself but for Path is of a
// program that can't be found, and of a runtime without one (a shim).
func Identify(ctx context.Context, pid int, path string) Itself {
	id := Itself{Path: path}
	if path == "" {
		return id
	}
	program, err := proc.Here.LookPath(pid, path)
	if err != nil && filepath.IsAbs(path) { // the daemon can't be looked into
		program, err = path, nil
	}
	if err == nil {
		id, _ = AskItself(ctx, program) // one that does not say is judged by what else is seen
		id.Path = path
	}
	return id
}

// ParseItself reads what runtimes print on --version: "runc version 1.1.5",
// "crun version 1.8.1", "youki 0.7.0" or "youki version: 0.7.0".
func ParseItself(out string) (program, version string) {
	line, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
	words := strings.Fields(line)
	if len(words) < 2 {
		return "", ""
	}
	return words[0], words[len(words)-1]
}

// Wrong is the error of a runtime that is another one than the level that was
// asked for, by its own word; nil where it is that one, or does not say. With
// called, the message tells how the engine knows it: "the docker daemon's crun".
func (i Itself) Wrong(level, called string) error {
	if i.Program == "" || level == engine.DefaultLevel || i.is(level) {
		return nil
	}
	who := i.Path
	if called != "" {
		who = called + " is " + i.Path + ", which"
	}
	return &engine.Error{Class: record.WrongComponent,
		Text: fmt.Sprintf("asked for the runtime %s, and %s says that it is %s", level, who, i.Program)}
}

// is: a program may add what it is for to its name (kata-runtime), and all
// variants of Kata Containers are one program.
func (i Itself) is(level string) bool {
	if slices.Contains(kata.Levels, level) {
		level = kata.Levels[0]
	}
	p := strings.ToLower(i.Program)
	return p == level || strings.HasPrefix(p, level+"-")
}
