package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/report"
)

// mostSummary is what GitHub takes of all that one step writes; beyond it takes
// none of it.
const mostSummary = 1 << 20

// stepSummary appends Markdown to the summary of a step of GitHub Actions, as
// far as there is room for it. That it could not be written is said, and is no
// failure: the result stands in the log.
func stepSummary(w World, write func(io.Writer) error) {
	path := w.Getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return
	}
	var b bytes.Buffer
	err := write(&b)
	if err == nil {
		err = appendSummary(path, b.Bytes())
	}
	if err != nil {
		fmt.Fprintf(w.Stderr, "%sthe step's summary was not written: %v\n", statusPrefix, err)
	}
}

// cutSummary ends a summary that has no room.
const cutSummary = "\n\n*The rest does not fit into a step's summary: see the log, or run `plimsoll report` on the record.*\n"

func appendSummary(path string, text []byte) error {
	room := int64(mostSummary)
	switch info, err := os.Stat(path); {
	case err == nil:
		room -= info.Size()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	text = append(bytes.TrimRight(text, "\n"), '\n', '\n')
	if int64(len(text)) > room {
		if room -= int64(len(cutSummary)); room < 0 {
			return fmt.Errorf("%s is full: a step has %d bytes", path, mostSummary)
		}
		// A line is whole, and a row of a table is one.
		text = text[:bytes.LastIndexByte(text[:room], '\n')+1]
		text = append(text, cutSummary...)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// summariseChanges does so with a comparison, or a gate's answer.
func summariseChanges(w World, c *compare.Changes) {
	stepSummary(w, func(out io.Writer) error { return report.Changes.Write(out, "markdown", c, report.Options{}) })
}
