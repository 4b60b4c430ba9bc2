package measured

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// tap is a script in an engine's place that notes how our adapter calls it, so that
// hyperfine calls it the same way: arguments, environment, and the bundle, which the
// adapter removes after each trial.
const tap = `#!/bin/sh
last=
for a; do
	if [ "$last" = --bundle ]; then cp "$a/config.json" '%[1]s/config.json' || exit; fi
	last=$a
done
for a; do
	if [ "$a" = '%[3]s' ]; then
		cat /proc/$$/environ >'%[1]s/environ' && printf '%%s\0' "$@" >'%[1]s/arguments' || exit
		break
	fi
done
exec '%[2]s' "$@"
`

// writeTap puts the script at path; what it notes lies below dir.
func writeTap(path, program, dir string) error {
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.MkdirAll(filepath.Dir(path), 0o755)); err != nil {
		return err
	}
	return os.WriteFile(path, fmt.Appendf(nil, tap, dir, program, verb), 0o755)
}

// call is a command line of our adapter's, without the program.
type call struct{ args, env []string }

// readCall reads what the script noted last.
func readCall(dir string) (c call, err error) {
	words := func(name string) []string {
		b, rerr := os.ReadFile(filepath.Join(dir, name))
		err = errors.Join(err, rerr)
		return strings.Split(string(bytes.TrimSuffix(b, []byte{0})), "\x00")
	}
	c.args, c.env = words("arguments"), words("environ")
	if err != nil {
		return c, fmt.Errorf("the engine was not called with %s: %w", verb, err)
	}
	for i := range c.args {
		if i > 0 && c.args[i-1] == "--bundle" {
			c.args[i] = dir
		}
	}
	return c, nil
}
