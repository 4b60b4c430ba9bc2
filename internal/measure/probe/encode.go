package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The numbers of docs/probe.md; src/job.h has the same.
const (
	frameVersion = 1
	headerSize   = 16

	frameJob    = 1
	frameAbort  = 2
	frameHello  = 3
	frameResult = 4
	frameError  = 5
	frameLook   = 6
	frameState  = 7
	frameEnd    = 8

	maxFrame     = 1 << 20
	maxCommands  = 32
	maxGroups    = 256
	maxRlimits   = 32
	maxExchanges = 4096
	maxPool      = 16 << 20
	maxDuration  = time.Duration(1) << 60
)

const (
	flagSetUser = 1 << iota
	flagBackground
	flagAlways
	flagStdinPipe
	flagFloor
	flagFloorUser
	flagFloorNet
	flagMute
	flagUnsynced
)

const flagHeld = 1 // of a job

// The defaults of a Job.
const (
	defaultLimit       = 60 * time.Second
	defaultCleanup     = 10 * time.Second
	defaultOutputLimit = 64 << 10
)

// limits are a job's limits with the defaults put in.
func (j *Job) limits() (limit, cleanup time.Duration, output int) {
	limit, cleanup, output = j.Limit, j.Cleanup, j.OutputLimit
	if limit <= 0 {
		limit = defaultLimit
	}
	if cleanup <= 0 {
		cleanup = defaultCleanup
	}
	if output <= 0 {
		output = defaultOutputLimit
	}
	return min(limit, maxDuration), min(cleanup, maxDuration), output
}

var le = binary.LittleEndian

func appendHeader(b []byte, kind uint16, seq uint64) []byte {
	b = le.AppendUint32(b, 0) // the length, put in by finishFrame
	b = le.AppendUint16(b, frameVersion)
	b = le.AppendUint16(b, kind)
	return le.AppendUint64(b, seq)
}

func finishFrame(b []byte) { le.PutUint32(b, uint32(len(b)-headerSize)) }

// appendJob appends a job's frame. Its errors are what the launcher would
// refuse, in words that name the command.
func appendJob(b []byte, job *Job, seq uint64) ([]byte, error) {
	limit, cleanup, output := job.limits()
	n := len(job.Commands)
	switch {
	case n == 0:
		return b, errors.New("a job needs at least one command")
	case n > maxCommands:
		return b, fmt.Errorf("a job of %d commands: at most %d can be run", n, maxCommands)
	case output > maxPool/2/n:
		return b, fmt.Errorf("an output limit of %d bytes for %d commands: at most %d can be kept of each stream", output, n, maxPool/2/n)
	}
	start := len(b)
	b = appendHeader(b, frameJob, seq)
	b = le.AppendUint64(b, uint64(limit))
	b = le.AppendUint64(b, uint64(cleanup))
	b = le.AppendUint32(b, uint32(output))
	if job.held {
		b = le.AppendUint32(b, flagHeld)
	} else {
		b = le.AppendUint32(b, 0)
	}
	return appendCommands(b, start, job)
}

// appendEnd appends the frame with the last commands of a held job, which has
// had so many before.
func appendEnd(b []byte, job *Job, had int, seq uint64) ([]byte, error) {
	limit, _, output := job.limits()
	n := had + len(job.Commands)
	switch {
	case n > maxCommands:
		return b, fmt.Errorf("a job of %d commands: at most %d can be run", n, maxCommands)
	case output > maxPool/2/n:
		return b, fmt.Errorf("an output limit of %d bytes for %d commands: at most %d can be kept of each stream", output, n, maxPool/2/n)
	}
	start := len(b)
	b = appendHeader(b, frameEnd, seq)
	b = le.AppendUint64(b, uint64(limit))
	return appendCommands(b, start, job)
}

// appendCommands finishes a frame that begins at start by its commands.
func appendCommands(b []byte, start int, job *Job) ([]byte, error) {
	cmds := job.Commands
	b = le.AppendUint32(b, uint32(len(cmds)))
	for i := range cmds {
		if err := check(&cmds[i]); err != nil {
			return b, fmt.Errorf("command %d: %w", i+1, err)
		}
		b = appendCommand(b, &cmds[i], job.env)
	}
	if len(b)-start-headerSize > maxFrame {
		return b, fmt.Errorf("the job's arguments and environments take %d bytes, at most %d can be sent", len(b)-start, maxFrame)
	}
	finishFrame(b[start:])
	return b, nil
}

func check(c *Command) error {
	kinds := 0
	if len(c.Argv) > 0 {
		kinds++
		if c.Argv[0] == "" {
			return errors.New("its path is empty")
		}
	}
	if c.Signal != 0 {
		kinds++
	}
	switch {
	case kinds > 1:
		return errors.New("it is both a process and a signal")
	case c.Signal < 0 || c.Signal > 64:
		return fmt.Errorf("there is no signal %d", c.Signal)
	case len(c.Argv) == 0 && (c.Floor != nil || c.PidFile != "" || c.Calibrate != 0 || c.Unsynced):
		return errors.New("it has options of a process but no argument list")
	case c.Await < AwaitPrevious || c.Await > AwaitGrace:
		return fmt.Errorf("unknown condition %d", c.Await)
	case c.Grace < 0 || c.Grace > maxDuration:
		return fmt.Errorf("a grace period of %v", c.Grace)
	case c.Calibrate < 0 || c.Calibrate > maxExchanges:
		return fmt.Errorf("%d rounds of the clock exchange: at most %d can be held", c.Calibrate, maxExchanges)
	case c.Calibrate > 0 && c.Stdin != StdinPipe:
		return errors.New("the clock exchange needs a pipe as standard input")
	case len(c.Groups) > maxGroups:
		return fmt.Errorf("%d groups: at most %d can be set", len(c.Groups), maxGroups)
	case len(c.Rlimits) > maxRlimits:
		return fmt.Errorf("%d resource limits: at most %d can be set", len(c.Rlimits), maxRlimits)
	case c.Floor != nil && c.Chroot != "":
		return errors.New("it is both a floor and a chroot")
	}
	if err := checkFloor(c.Floor); err != nil {
		return err
	}
	for _, list := range [][]string{c.Argv, c.Env, c.Cgroups, {c.Dir, c.Chroot, c.PidFile}} {
		for _, s := range list {
			if strings.IndexByte(s, 0) >= 0 {
				return fmt.Errorf("%q holds a NUL byte", s)
			}
		}
	}
	return nil
}

// checkFloor refuses what the overlay's options can't carry.
func checkFloor(f *Floor) error {
	if f == nil {
		return nil
	}
	for _, dir := range []string{f.Lower, f.Upper, f.Work, f.Merged} {
		if !filepath.IsAbs(dir) {
			return fmt.Errorf("the floor's directory %q is not absolute", dir)
		}
		if strings.ContainsAny(dir, ",:\\\x00") {
			return fmt.Errorf("the floor's directory %q: an overlay's directories must be free of , : and \\", dir)
		}
	}
	return nil
}

func appendCommand(b []byte, c *Command, env []string) []byte {
	floor := Floor{}
	flags := uint32(0)
	set := func(on bool, flag uint32) {
		if on {
			flags |= flag
		}
	}
	set(c.SetUser, flagSetUser)
	set(c.Background, flagBackground)
	set(c.Always, flagAlways)
	set(c.Stdin == StdinPipe, flagStdinPipe)
	set(c.Mute, flagMute)
	set(c.Unsynced, flagUnsynced)
	if c.Floor != nil {
		floor = *c.Floor
		flags |= flagFloor
		set(floor.UserNS, flagFloorUser)
		set(floor.NetNS, flagFloorNet)
	}
	b = le.AppendUint32(b, flags)
	b = le.AppendUint32(b, uint32(c.Await))
	b = le.AppendUint32(b, uint32(c.Signal))
	b = le.AppendUint32(b, uint32(c.Calibrate))
	b = le.AppendUint32(b, uint32(c.UID))
	b = le.AppendUint32(b, uint32(c.GID))
	b = le.AppendUint64(b, uint64(c.Grace))
	b = le.AppendUint32(b, uint32(len(c.Groups)))
	for _, g := range c.Groups {
		b = le.AppendUint32(b, uint32(g))
	}
	b = le.AppendUint32(b, uint32(len(c.Rlimits)))
	for _, r := range c.Rlimits {
		b = le.AppendUint32(b, uint32(r.Resource))
		b = le.AppendUint64(b, r.Soft)
		b = le.AppendUint64(b, r.Hard)
	}
	b = appendStrings(b, c.Argv)
	b = appendStrings(b, slices.Concat(c.Env, env))
	b = appendStrings(b, c.Cgroups)
	for _, s := range [...]string{c.Dir, c.Chroot, c.PidFile, floor.Lower, floor.Upper, floor.Work, floor.Merged} {
		b = appendString(b, s)
	}
	return b
}

// appendString writes the length, the bytes and a NUL, so that the launcher
// can use the string where it lies.
func appendString(b []byte, s string) []byte {
	b = le.AppendUint32(b, uint32(len(s)))
	b = append(b, s...)
	return append(b, 0)
}

func appendStrings(b []byte, list []string) []byte {
	b = le.AppendUint32(b, uint32(len(list)))
	for _, s := range list {
		b = appendString(b, s)
	}
	return b
}

// unsyncedVerb is what the probe is told to execute a program that waits for no disk.
const unsyncedVerb = "unsynced"

// Unsynced is the command line of a program under the filter of Command.Unsynced, for what
// no launcher starts. The probe at path puts it around itself and executes the program.
func Unsynced(path string, argv []string) []string {
	return append([]string{path, unsyncedVerb, "--"}, argv...)
}
