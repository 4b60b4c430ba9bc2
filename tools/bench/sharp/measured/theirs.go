package measured

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/tools/bench/sharp"
)

// hyperfine measures rounds of some runs of each program.
type hyperfine struct {
	path, dir string
	programs  []string
	call      call
	perRound  int
}

// patience is how long a round may go on that nobody wants any more.
const patience = time.Minute

// lasting is a context of a round that has begun. hyperfine that is ended leaves the
// runtime that it runs, and a runtime that is killed leaves its container's control
// group, of which no ledger knows: so a round is let come to its end, unless it hangs.
func lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	round, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-round.Done():
		case <-time.After(patience):
			end()
		}
	})
	return round, func() { stop(); end() }
}

// round measures each program some times in a row, in random order.
func (h *hyperfine) round(ctx context.Context) (r sharp.Round, failed int, err error) {
	if err := ctx.Err(); err != nil {
		return r, 0, err
	}
	ctx, end := lasting(ctx)
	defer end()
	out := filepath.Join(h.dir, "hyperfine.json")
	argv := []string{h.path, "-N", "-i", "--style", "none", "--output", "null", "--runs", strconv.Itoa(h.perRound), "--export-json", out}
	order := rand.Perm(len(h.programs))
	for _, i := range order {
		argv = append(argv, Quote(append([]string{h.programs[i]}, h.call.args...)))
	}
	begin := time.Now()
	said, err := child.Run(ctx, child.Command{Argv: argv, Env: h.call.env, Together: true})
	r.Wall = float64(time.Since(begin))
	if err != nil {
		return r, 0, fmt.Errorf("hyperfine: %w: %s", err, bytes.TrimSpace(said.Stdout))
	}
	b, err := os.ReadFile(out)
	if err != nil {
		return r, 0, err
	}
	var res struct {
		Results []struct {
			Times     []float64
			ExitCodes []*int `json:"exit_codes"`
		}
	}
	if err := json.Unmarshal(b, &res); err != nil || len(res.Results) != len(order) {
		return r, 0, fmt.Errorf("reading hyperfine's result: %d commands, %w", len(res.Results), err)
	}
	r.Times = make([][]float64, len(order))
	for k, i := range order {
		for n, t := range res.Results[k].Times {
			if codes := res.Results[k].ExitCodes; n < len(codes) && (codes[n] == nil || *codes[n] != 0) {
				failed++
				continue
			}
			r.Times[i] = append(r.Times[i], t*1e9)
		}
	}
	return r, failed, nil
}

// Quote joins an argument list so that hyperfine splits it the same way again.
func Quote(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
	}
	return strings.Join(words, " ")
}
