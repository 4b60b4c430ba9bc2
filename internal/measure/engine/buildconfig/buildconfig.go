// Package buildconfig runs a private program with the configuration of a build: files
// that the user has named, and variables of its environment.
//
// It is opinionated: the user's files are read, and never given to a program. What a
// program is started with lies in the run's own directory, so that nobody changes it
// meanwhile, and after each trial it is looked at whether it is as it was.
package buildconfig

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/confile"
	"plimsoll/internal/record"
)

// Configuration is what a program of one build is to run with. The zero value is nothing.
type Configuration struct {
	files     map[string]map[string]any
	Variables []string // K=V

	mu    sync.Mutex
	wrote map[string]string // digests of the files that the program reads, by their paths
}

// Of is the configuration of the kit's build of a program, empty where it has none. The
// files are read now, and must be those of the record.
func Of(kit *engine.Kit, program string) (*Configuration, error) {
	c := &Configuration{files: map[string]map[string]any{}, wrote: map[string]string{}}
	b := kit.BuildOf(program)
	if b == nil {
		return c, nil
	}
	c.Variables = b.Variables
	for _, f := range b.Files {
		data, err := safepath.ReadRegular(f.Path, 1<<20, "a configuration")
		if err != nil {
			return nil, &engine.Error{Class: record.Unavailable, Text: "reading the " + f.Name + " of " + b.Name(), Err: err}
		}
		if sum(data) != f.SHA256 {
			return nil, &engine.Error{Class: record.WrongComponent, Text: fmt.Sprintf("%s has changed since the run began", f.Path)}
		}
		if c.files[f.Name], err = confile.Parse(f.Name, f.Path, data); err != nil {
			return nil, &engine.Error{Class: record.Unavailable, Text: err.Error()}
		}
	}
	return c, nil
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// File is what stands in the file of a name; nil where there is none.
func (c *Configuration) File(name string) map[string]any {
	if c == nil {
		return nil
	}
	return c.files[name]
}

// any says whether there is anything.
func (c *Configuration) any() bool { return c != nil && len(c.files)+len(c.Variables) > 0 }

// Ours is an error where the file of a name has one of these keys, or one below them:
// they are what keeps a program of ours apart from the user's, or factors.
func (c *Configuration) Ours(name string, keys map[string]string) error {
	for _, s := range confile.Settings(c.files[name]) {
		for key, why := range keys {
			if s.Name() == key || strings.HasPrefix(s.Name(), key+".") {
				return &engine.Error{Class: record.Unsupported, Text: fmt.Sprintf("the %s has %s, %s", name, key, why)}
			}
		}
	}
	return nil
}

// Write writes a file that the program reads.
func (c *Configuration) Write(path string, data []byte, mode os.FileMode) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := os.WriteFile(path, data, mode); err != nil {
		return err
	}
	c.wrote[path] = sum(data)
	return nil
}

// ByProcess is how it is known that a program that stays has its variables.
const ByProcess = "the environment of its process, after each trial"

// Holds says why a program no longer runs with what it was given; nil where it does. pid
// is its process; 0 where it has none that stays.
func (c *Configuration) Holds(pid int) error {
	if !c.any() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for path, was := range c.wrote {
		data, err := safepath.ReadRegular(path, 1<<20, "a configuration")
		if err != nil {
			return &engine.Error{Class: record.WrongComponent, Text: "the configuration can't be read again", Err: err}
		}
		if sum(data) != was {
			return &engine.Error{Class: record.WrongComponent, Text: path + ", which the program reads, has changed since it was given"}
		}
	}
	if pid == 0 || len(c.Variables) == 0 {
		return nil
	}
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return &engine.Error{Class: record.HarnessError, Text: "which environment the program has is not known", Err: err}
	}
	for _, v := range c.Variables {
		if !slices.ContainsFunc(bytes.Split(data, []byte{0}), func(is []byte) bool { return string(is) == v }) {
			return &engine.Error{Class: record.WrongComponent, Text: fmt.Sprintf("the process %d does not have %s in its environment", pid, v)}
		}
	}
	return nil
}

// Facts are what is in effect, in words, and how that is known: of the files, and of the
// variables.
func (c *Configuration) Facts(files, variables string) map[string]string {
	if !c.any() {
		return nil
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		for _, s := range confile.Settings(c.files[name]) {
			all = append(all, name+" "+s.String())
		}
	}
	var proofs []string
	if len(c.files) > 0 {
		proofs = append(proofs, files)
	}
	if len(c.Variables) > 0 {
		proofs = append(proofs, variables)
	}
	return map[string]string{"settings": strings.Join(append(all, c.Variables...), "; "), "settings-proof": strings.Join(proofs, "; ")}
}
