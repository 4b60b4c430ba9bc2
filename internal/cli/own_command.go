//go:build linux

package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/imagestore"
	"plimsoll/internal/measure/study"
)

// ownCommand is what stands behind -- on the command line: a program with its
// arguments, which is measured in place of a study's workloads.
type ownCommand struct {
	argv  []string
	image string
}

// commandImages are where the program of a command is looked for when no image is
// named: the smallest that has programs, and the one that has most of them.
var commandImages = []string{"busybox", "toolbox"}

// commandLimit bounds a trial of a command, of which nobody knows how long it takes.
const commandLimit = "1h"

// studyOrCommand are the arguments of run and plan.
func studyOrCommand(cmd *cobra.Command, args []string) error {
	dash := cmd.ArgsLenAtDash()
	if dash < 0 {
		return cobra.MaximumNArgs(1)(cmd, args)
	}
	see := fmt.Sprintf("%s -- sha256sum /bin/busybox", cmd.CommandPath())
	switch {
	case dash > 0:
		return withHint(fail(Usage, "a study (%s) and a command (%s): it can be one of them", args[0], harmless.ShellLine(args[dash:])), "a command alone is %s", see)
	case len(args) == 0 || args[0] == "":
		return withHint(fail(Usage, "there is no command behind --"), "for instance: %s", see)
	}
	return nil
}

// take gives the name of what the command line names, and keeps its command.
func (c *changes) take(cmd *cobra.Command, args []string) string {
	if cmd.ArgsLenAtDash() != 0 {
		return studyName(args)
	}
	c.command.argv = args
	return c.command.program()
}

// program is the command's first word as a name, for directories.
func (c *ownCommand) program() string { return nameOf(path.Base(c.argv[0])) }

// nameOf makes a name of a text, for ids and files.
func nameOf(text string) string {
	name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(text), "-"), "-._")
	return cmp.Or(strings.TrimRight(name[:min(len(name), 40)], "-._"), "command")
}

var notInNames = regexp.MustCompile(`[^a-z0-9._]+`)

// line is the command as one types it.
func (c *ownCommand) line() string {
	return strings.TrimPrefix(harmless.Text(harmless.ShellLine(append([]string{"--"}, c.argv...))), "-- ")
}

// source makes the study: one workload, in every engine that --engine leaves. Its
// name has the digest of the command, so that two runs are set beside each other
// only where they measured the same.
func (c *ownCommand) source() (study.Source, error) {
	sum := sha256.New()
	var argv []string
	for _, a := range c.argv {
		if !utf8.ValidString(a) {
			return study.Source{}, fail(Usage, "an argument of the command is not UTF-8: %q", a)
		}
		fmt.Fprintf(sum, "%d:%s", len(a), a)
		// What is a reference in a workload's file is none on a command line.
		argv = append(argv, strconv.Quote(strings.ReplaceAll(a, "${", "$${")))
	}
	name := nameOf(strings.Join(c.argv, " ")) + "-" + hex.EncodeToString(sum.Sum(nil))[:8]
	title := c.line()
	if r := []rune(title); len(r) > 60 {
		title = string(r[:59]) + "…"
	}
	work := fmt.Sprintf(`plimsoll-workload: 1
name: %s
title: %q
what: A command of the user's own.
group: application
image: %q
limit: %s
run: [%s]
`, name, title, c.image, commandLimit, strings.Join(argv, ", "))
	text := fmt.Sprintf(`plimsoll: 1
name: command
title: %q
baselines: [native]
workloads: [./%s.yaml]
environments: [native, others]
metrics: [time, cpu-time, max-rss, whole]
sort: time
`, title, name)
	return study.Source{Path: "(the command)", Data: []byte(text), Files: map[string][]byte{name + ".yaml": []byte(work)}}, nil
}

// chooseImage finds the image that has the command's program, and writes it down as
// if it had been named, so that a repetition does not look for another.
func (s *setting) chooseImage(ctx context.Context, c *changes, fl *pflag.FlagSet) error {
	own := &c.command
	switch {
	case len(own.argv) == 0 && own.image != "":
		return withHint(fail(Usage, "--image is %q: a study's image is replaced by --image OF-THE-STUDY=IN-ITS-PLACE, such as ubuntu:18.04=debian", own.image), "an image alone is for a command behind --")
	case len(own.argv) == 0:
		return nil
	case len(c.images) > 0:
		return fail(Usage, "a command behind -- runs in one image: --image names it alone, such as --image debian")
	}
	candidates := commandImages
	if own.image != "" {
		candidates = []string{own.image}
	}
	program, store := own.argv[0], s.store()
	var without, missing []string
	hint := "--image names another, by its name (plimsoll image list) or its reference to a registry"
	if strings.ContainsAny(program, " \t;|&<>") {
		hint = "a line for a shell is sh -c '…'"
	}
	for _, name := range candidates {
		if st, err := store.State(name); err != nil {
			return fail(Usage, "%w", err)
		} else if st.State == imagestore.NotBuilt || st.State == imagestore.Unavailable {
			missing = append(missing, fmt.Sprintf("the image %s: %s", name, st.Reason))
			if st.Fix != "" {
				hint = st.Fix + ", or: " + hint
			}
			continue
		}
		has, err := store.Has(ctx, name, program)
		switch {
		case err != nil:
			return fail(NothingHere, "looking for %s in the image %s: %w", program, name, err)
		case has && own.image == "":
			return fl.Set("image", name)
		case has:
			return nil
		}
		without = append(without, name)
	}
	var why []string
	if len(without) > 0 {
		why = append(why, fmt.Sprintf("there is no program %s in the image %s", program, strings.Join(without, ", nor in the image ")))
	}
	status := Usage
	if len(missing) > 0 {
		status = NothingHere
	}
	return withHint(fail(status, "%s", strings.Join(append(why, missing...), "; ")), "%s", hint)
}

// imageFlag is --image: a study's images by others in their places, and an image
// alone.
type imageFlag struct {
	pflag.Value
	alone *string
}

// Set takes an image alone by its having no "=", which no reference has.
func (f imageFlag) Set(s string) error {
	if s == "" || strings.Contains(s, "=") {
		return f.Value.Set(s)
	}
	*f.alone = s
	return nil
}

func (f imageFlag) String() string {
	if f.alone != nil && *f.alone != "" {
		return *f.alone
	}
	return f.Value.String()
}
