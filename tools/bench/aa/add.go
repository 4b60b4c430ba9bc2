package aa

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// aaKept is a row of an aaTable as a file holds it, so that several invocations add
// up: where a machine is free for minutes, not for half an hour.
type aaKept struct {
	Env     string `json:"env"`
	Tuned   bool   `json:"tuned"`
	Between bool   `json:"between"`
	// Counts are times, interval, verdict, letters and compare.
	Counts [5]int `json:"counts"`
}

// add reads what earlier invocations counted, if the file is there.
func (t *aaTable) add(file string) error {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading earlier counts: %w", err)
	}
	var kept []aaKept
	if err := json.Unmarshal(data, &kept); err != nil {
		return fmt.Errorf("reading earlier counts from %s: %w", file, err)
	}
	for _, k := range kept {
		c := k.Counts
		t.row(aaRow{k.Env, k.Tuned, k.Between}).plus(alarms{c[0], c[1], c[2], c[3], c[4]})
	}
	return nil
}

// keep writes the sum of all so far.
func (t *aaTable) keep(file string) error {
	kept := make([]aaKept, 0, len(t.order))
	for _, r := range t.order {
		f := t.rows[r]
		kept = append(kept, aaKept{r.env, r.tuned, r.between, [5]int{f.times, f.interval, f.verdict, f.letters, f.compare}})
	}
	data, err := json.MarshalIndent(kept, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}
