package cli

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"plimsoll/internal/measure/build/executed"
)

// delay waits when the program that loads it makes a container: once, though that
// executes itself again.
const delay = `#include <stdlib.h>
#include <string.h>
#include <time.h>
__attribute__((constructor)) static void wait_once(int argc, char **argv) {
	struct timespec t = {0, %dL};
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "create") && !getenv("WAITED_ONCE")) {
			setenv("WAITED_ONCE", "1", 1);
			nanosleep(&t, 0);
		}
}
`

// slowCrun makes a crun that waits some milliseconds in its create.
func slowCrun(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: slowcrun FILE DURATION")
	}
	slowBuild(ts, neg, append([]string{ts.Getenv("CRUN")}, args...))
}

// slowBuild makes a build of a program that waits some milliseconds in its create.
func slowBuild(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: slowbuild PROGRAM FILE DURATION")
	}
	wait, err := time.ParseDuration(args[2])
	ts.Check(err)
	otherBuild(ts, args[0], args[1], fmt.Sprintf(delay, wait.Nanoseconds()))
}

// swap puts a second file in the place of the program that loads it, when that makes
// its container of some number.
const swap = `#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
__attribute__((constructor)) static void swap_once(int argc, char **argv) {
	for (int i = 1; i < argc; i++)
		if ((!strcmp(argv[i], "create") || !strcmp(argv[i], "run")) && !getenv("COUNTED_ONCE")) {
			setenv("COUNTED_ONCE", "1", 1);
			int fd = open(%[1]q ".count", O_WRONLY | O_CREAT | O_APPEND, 0600);
			if (write(fd, "x", 1) == 1 && lseek(fd, 0, SEEK_CUR) == %[3]s)
				rename(%[2]q, %[1]q);
			close(fd);
		}
}
`

// swappedCrun makes a crun in whose place another file is put while it makes its
// container of this number.
func swappedCrun(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: swappedcrun FILE OTHER CONTAINERS")
	}
	otherBuild(ts, ts.Getenv("CRUN"), args[0], fmt.Sprintf(swap, ts.MkAbs(args[0]), ts.MkAbs(args[1]), args[2]))
}

// otherBuild makes a build of a program that does what a text in C says when it begins.
func otherBuild(ts *testscript.TestScript, of, file, text string) {
	library, err := otherProgram(of, ts.MkAbs(file), text)
	ts.Defer(func() { _ = os.Remove(library) })
	ts.Check(err)
}

// otherProgram makes one at a path: the program of this machine, linked to a library that
// does what the text in C says and then to its own. Whoever asks removes the library.
func otherProgram(of, path, text string) (library string, err error) {
	const linked = "libseccomp.so.2"
	library = libraryPath()
	program, err := os.ReadFile(of)
	if err != nil {
		return library, err
	}
	if !bytes.Contains(program, []byte(linked+"\x00")) {
		return library, fmt.Errorf("%s is not linked to %s, in whose place a delay could be put", of, linked)
	}
	if err := compile(library, text, "-shared", "-fPIC", "-Wl,--no-as-needed", "-l:"+linked); err != nil {
		return library, err
	}
	return library, os.WriteFile(path, bytes.Replace(program, []byte(linked+"\x00"), []byte(library+"\x00"), 1), 0o755)
}

// libraryPath is a path as long as the name of the library that it replaces.
func libraryPath() string {
	var s strings.Builder
	for range 7 {
		s.WriteByte(byte('a' + rand.IntN(26)))
	}
	return "/tmp/" + s.String() + ".so"
}

// executionsWatched says whether the kernel tells which files are executed.
func executionsWatched() bool {
	w, err := executed.Open([]int64{1}, "/")
	return err == nil && w.Close() == nil
}

// wrapped makes a program that executes crun in its place.
func wrapped(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: wrapped FILE")
	}
	compiled(ts, ts.MkAbs(args[0]), fmt.Sprintf("#include <unistd.h>\nint main(int c, char **v) { (void)c; return execv(%q, v); }\n", ts.Getenv("CRUN")))
}

// compiled makes a file of a text in C.
func compiled(ts *testscript.TestScript, path, text string, flags ...string) {
	ts.Check(compile(path, text, flags...))
}

func compile(path, text string, flags ...string) error {
	cmd := exec.Command("cc", append([]string{"-o", path, "-x", "c", "-"}, flags...)...)
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compiling %s: %w: %s", path, err, out)
	}
	return nil
}
