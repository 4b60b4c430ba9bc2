package beside

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
)

// CommandPhases are what is compared, by the names of the commands.
var CommandPhases = []struct {
	Name     string
	From, To record.Event
}{{"docker create", record.Request, record.Created}, {"docker start", record.Start, record.Started}, {"docker exec", record.Exec, record.Exit}}

// Phases are the three times of one life, in milliseconds.
type Phases [3]float64

// ReadPhases reads a line of the loop: four times in seconds, and what echo said.
func ReadPhases(line, word string) (p Phases, err error) {
	f := strings.Fields(line)
	if len(f) != 7 || strings.Join(f[4:], " ") != "Hello World "+word {
		return p, fmt.Errorf("the shell loop printed %q, want four times and the words of echo", line)
	}
	var at [4]float64
	for i := range at {
		if at[i], err = strconv.ParseFloat(strings.ReplaceAll(f[i], ",", "."), 64); err != nil {
			return p, err
		}
	}
	for i := range p {
		p[i] = (at[i+1] - at[i]) * 1e3
	}
	return p, nil
}

// ShowCommands prints a row for each command, and says how many differ for sure.
func ShowCommands(w io.Writer, ours, theirs []Phases) (missed int) {
	for i, c := range CommandPhases {
		var a, b, logs []float64
		for k := range ours {
			a, b = append(a, ours[k][i]), append(b, theirs[k][i])
			logs = append(logs, math.Log(ours[k][i]/theirs[k][i]))
		}
		said, verdict := agrees(logs)
		if verdict == "MISSED" {
			missed++
		}
		fmt.Fprintf(w, "%-14s ours %7.1f ms, shell loop %7.1f ms, %s %s\n", c.Name, stats.Median(stats.Sorted(a)), stats.Median(stats.Sorted(b)), said, verdict)
	}
	return missed
}
