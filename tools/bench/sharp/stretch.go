package sharp

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// Stretch is one engine in one state of the machine, measured for some minutes in
// several runs, by us and by hyperfine in turns.
type Stretch struct {
	Engine string `json:"engine"`
	// Tuned: the machine was in the states that make starts scatter least.
	Tuned bool `json:"tuned"`
	// Start is the median of the start as it was found before the changes were made,
	// ns; they are shares of it.
	Start float64 `json:"start_ns"`
	// Changes are the programs: by how much of Start each is slower. The first two
	// are one file.
	Changes []float64 `json:"changes"`
	Runs    []*Run    `json:"runs"`
	// Took is how long all of it was, ns.
	Took time.Duration `json:"took_ns"`
}

// baselines are how many environments stand in each block after the changes:
// native and floor.
const baselines = 2

// Run is one run of ours, and what hyperfine measured between its blocks.
type Run struct {
	Began  time.Time `json:"began"`
	Blocks []Block   `json:"blocks"`
	Rounds []Round   `json:"rounds"`
	// Wall is what our trials took with all that is between them, Trials what of
	// that was trials, ns.
	Wall   float64 `json:"wall_ns"`
	Trials float64 `json:"trials_ns"`
	// Failed counts what has no time, of ours and of hyperfine's.
	Failed int `json:"failed"`
}

// Block is a trial of each program, and of the baselines.
type Block struct {
	// Start is from the request to the first byte, ns, 0 where the trial failed;
	// Wall with all that comes before the next trial.
	Start []float64 `json:"start_ns"`
	Wall  []float64 `json:"wall_ns"`
}

// Round is some runs of each program by hyperfine.
type Round struct {
	// Times are of whole processes, by program, ns.
	Times [][]float64 `json:"times_ns"`
	// Wall is the round's, hyperfine's own work included, ns.
	Wall float64 `json:"wall_ns"`
}

// of is what of a round's time went into some of the programs.
func (r *Round) of(programs ...int) float64 {
	part, all := 0.0, 0.0
	for i, times := range r.Times {
		for _, t := range times {
			all += t
			for _, p := range programs {
				if p == i {
					part += t
				}
			}
		}
	}
	if all == 0 {
		return 0
	}
	return r.Wall * part / all
}

// of is what some of a block's trials took.
func (b *Block) of(envs ...int) float64 {
	sum := 0.0
	for _, e := range envs {
		sum += b.Wall[e]
	}
	return sum
}

// Save keeps the measured values, so that they can be cut otherwise later.
func Save(path string, all []*Stretch) error {
	data, err := json.Marshal(all)
	if err == nil {
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		return fmt.Errorf("keeping what was measured: %w", err)
	}
	return nil
}

// Load reads what was kept.
func Load(path string) (all []*Stretch, err error) {
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("reading what was measured: %w", err)
	}
	return all, nil
}
