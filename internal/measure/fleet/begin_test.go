package fleet

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// What fails here while a record is sent back is said, and the run does not begin with
// a part of it.
func TestBeginSaysWhatFailedHere(t *testing.T) {
	record := t.TempDir()
	trials := filepath.Join(record, "trials.jsonl")
	// Once its first byte is there, the file's size was read here: then it becomes shorter.
	h, home := beyond(t, "case $command in *' take '*) head -c 1 >/dev/null; : >'"+trials+"' ;; esac")
	require.NoError(t, bring(t, h, "#!/bin/sh\n[ \"$2\" = take ] || { : >\"$3/$2\"; exit; }\ntail -c 40 | grep -q over || { echo plimsoll: EOF >&2; exit 1; }\n"))
	require.NoError(t, os.WriteFile(trials, make([]byte, 1<<20), 0o600)) // more than pipes hold
	var e *Error
	err := h.Begin(t.Context(), Request{Resume: true}, nil, record)
	if !errors.As(err, &e) || !regexp.MustCompile(`^sending what is to be run: record/trials\.jsonl: copied \d+ of 1048576 bytes: `).MatchString(e.What) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat(filepath.Join(home, ".cache/plimsoll/hosts", ours, VerbRun)); err == nil {
		t.Error("the run was begun with a part of its record")
	}
}

// What a host says of a request that it did not want is said, and not that nobody
// reads it any more.
func TestBeginRefusedThere(t *testing.T) {
	h, _ := beyond(t, "")
	require.NoError(t, bring(t, h, "#!/bin/sh\necho plimsoll: the run goes on, as process 7 >&2; exit 1\n"))
	study := map[string][]byte{"a.yaml": make([]byte, 1<<20)} // more than pipes hold
	var e *Error
	if err := h.Begin(t.Context(), Request{}, study, ""); !errors.As(err, &e) || !strings.HasSuffix(e.What, "as process 7") {
		t.Errorf("%v", err)
	}
}

// Nothing says that all was sent where it was not.
func TestUnsent(t *testing.T) {
	var out bytes.Buffer
	if err := sendRequest(&out, Request{Resume: true}, nil, filepath.Join(t.TempDir(), "gone")); err == nil || strings.Contains(out.String(), `"over"`) {
		t.Errorf("%v, and it sent %q", err, out.String())
	}
}

// What a run reads of its record goes back to the host, and nothing else that lies
// beside it.
func TestSentBack(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"run.json", "trials.jsonl", "inside.jsonl", "output/00000001.txt", "samples/00000001.cpu.jsonl",
		"key", "report.html", "home/notes", "output/.hidden", ".ssh/id"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("x\n"), 0o600))
	}
	var out bytes.Buffer
	require.NoError(t, sendRequest(&out, Request{Resume: true}, map[string][]byte{"a.yaml": []byte("\n")}, dir))
	var sent []string
	for _, m := range regexp.MustCompile(`"file":"([^"]*)"`).FindAllStringSubmatch(out.String(), -1) {
		sent = append(sent, m[1])
	}
	if got, want := strings.Join(sent, " "), "request.json study/a.yaml record/inside.jsonl record/output/00000001.txt record/run.json record/samples/00000001.cpu.jsonl record/trials.jsonl"; got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
	if !strings.HasSuffix(out.String(), "{\"over\":{\"exit\":0}}\n") {
		t.Errorf("it ends with %q", out.String())
	}
}
