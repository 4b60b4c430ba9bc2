package run

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/record"
)

// TestPatience: on a machine that is never calm the waits are a tenth of the longest
// on average, and one that became calm is waited for as long as before.
func TestPatience(t *testing.T) {
	var p patience
	var sum time.Duration
	longest := 0
	const trials = 10 * tryAgain
	for range trials {
		l := p.limit()
		if sum += l; l == longestWait {
			longest++
		}
		p.waited(l, false)
	}
	if mean := sum / trials; mean > longestWait/8 || mean < shortestWait || longest != trials/tryAgain {
		t.Errorf("%v on average, %d of %d in full", mean, longest, trials)
	}
	p.waited(0, false)
	if p.waited(0, true); p.limit() != longestWait {
		t.Errorf("%v after a wait that was not in vain", p.limit())
	}
}

// TestPatienceOfPairs: what is rarely needed is not waited for. Who often needs a long
// wait gets it, as the trials after it would carry what it leaves behind.
func TestPatienceOfPairs(t *testing.T) {
	const trial, window = 6 * time.Millisecond, time.Millisecond
	// waits has so many waits of a hundred beyond what a pair has.
	waits := func(p *patience, beyond int) {
		for i := range 100 {
			p.took.add(trial)
			if i*beyond%100 < beyond {
				p.waited(3*trial, true)
			} else {
				p.waited(window, true)
			}
		}
	}
	p := &patience{pair: true}
	if l := p.limit(); l != longestWait {
		t.Errorf("%v before anything is known", l)
	}
	for what, tell := range map[string]func(p *patience){
		"trials": func(p *patience) { p.took.add(trial) },
		"waits":  func(p *patience) { p.waited(window, true) },
	} {
		p := &patience{pair: true}
		for range remembered {
			tell(p)
		}
		if l := p.limit(); l != longestWait {
			t.Errorf("%v where %s alone are known", l, what)
		}
	}
	for beyond, want := range map[int]time.Duration{0: 2 * trial, 6: 2 * trial, 50: longestWait} {
		p := &patience{pair: true}
		if waits(p, beyond); p.limit() != want {
			t.Errorf("%v where %d of 100 are longer, not %v", p.limit(), beyond, want)
		}
	}
	waits(p, 0)
	for range remembered / rare {
		p.waited(2*trial, false)
	}
	if l := p.limit(); l != longestWait>>(remembered/rare) {
		t.Errorf("%v after waits in vain, though even a trial is longer", l)
	}
	p.vain = 0
	if l := p.limit(); l != 2*trial {
		t.Errorf("%v though waits in vain are rare", l)
	}
	p.waited(2*trial, false)
	p.vain = 0
	if l := p.limit(); l != longestWait {
		t.Errorf("%v after more waits in vain than are rare", l)
	}
	short := &patience{pair: true}
	for range remembered {
		short.took.add(time.Millisecond)
		short.waited(0, true)
	}
	if l := short.limit(); l != shortestWait {
		t.Errorf("%v where trials are short", l)
	}
	others := &patience{}
	if waits(others, 0); others.ask(window) != (host.Limit{Window: window, Wait: longestWait}) {
		t.Errorf("others than pairs: %+v", others.ask(window))
	}
	if l := short.ask(window); l != (host.Limit{Window: window / 2, Even: 4, Most: 2 * window, Wait: shortestWait}) {
		t.Errorf("pairs: %+v", l)
	}
}

// TestRecent: of durations the last ones count, however they came.
func TestRecent(t *testing.T) {
	var r recent
	for i := range remembered {
		if r.full() {
			t.Errorf("full of %d", i)
		}
		r.add(time.Duration(1 + (3+i*7)%remembered)) // each from 1 to 50 once
	}
	if !r.full() || r.median() != remembered/2+1 || r.over(30) != remembered-30 {
		t.Errorf("full: %v, a median of %d, %d over 30", r.full(), r.median(), r.over(30))
	}
	for range remembered/2 + 1 {
		r.add(100)
	}
	if r.median() != 100 || r.over(99) != remembered/2+1 {
		t.Errorf("a median of %d, %d over 99", r.median(), r.over(99))
	}
}

// TestPairsArePatientByTheirTrials: what a run is told of its plan, and of each trial, is
// what its patience goes by.
func TestPairsArePatientByTheirTrials(t *testing.T) {
	s := newSite(&Options{Run: &record.Run{}, Steering: Steering{Pair: true}})
	if !s.patience.pair {
		t.Error("of a pair nothing is known")
	}
	var err error
	s.disturb, err = host.Machine{}.NewSampler()
	require.NoError(t, err)
	defer s.disturb.Close()
	const long = 3 * time.Millisecond
	for range remembered {
		s.observe(&openEnv{}, &record.Trial{}, func() { time.Sleep(long) })
	}
	if m := s.patience.took.median(); !s.patience.took.full() || m < long {
		t.Errorf("a median of %v of trials that took %v", m, long)
	}
	var sum time.Duration
	for _, d := range s.patience.took.last {
		sum += d
	}
	if all := time.Duration(s.own().Timed); sum != all {
		t.Errorf("the trials took %v, and patience knows of %v", all, sum)
	}
}

// TestQuietTellsPatience: each wait lasts as long as patience has it, and tells it what it
// came to.
func TestQuietTellsPatience(t *testing.T) {
	m := host.Machine{Root: t.TempDir()}
	running := func(n string) {
		require.NoError(t, os.WriteFile(filepath.Join(m.Root, "proc", "loadavg"), []byte("0.05 0.03 0.04 "+n+"/94 8077\n"), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(m.Root, "proc"), 0o700))
	running("3")
	s := newSite(&Options{Run: &record.Run{}})
	var err error
	s.calm, err = m.NewQuiet()
	require.NoError(t, err)
	defer s.calm.Close()
	settled := func() *record.Trial {
		tr := &record.Trial{}
		require.NoError(t, s.settle(t.Context(), &openEnv{}, tr))
		return tr
	}
	// In vain: the longest first.
	in := settled()
	if !slices.Contains(in.Remarks, record.NotQuiet) || time.Duration(in.Quiet) < longestWait/2 || in.Running == nil || *in.Running != 2 {
		t.Errorf("a wait in vain: %+v", in)
	}
	if s.patience.vain != 1 || s.patience.had.n != 1 || s.patience.had.last[0] != longestWait {
		t.Errorf("patience knows of %+v", s.patience.had)
	}
	// One of several is as short as it should be where others have the processors too.
	least := longestWait
	for range 10 {
		s.patience.vain = tryAgain - 1
		least = min(least, time.Duration(settled().Quiet))
	}
	if least > longestWait/4 {
		t.Errorf("%v after many waits in vain, where %v are left", least, shortestWait)
	}
	running("1")
	if calm := settled(); slices.Contains(calm.Remarks, record.NotQuiet) || calm.Quiet == 0 || calm.Running == nil || *calm.Running != 0 || s.patience.vain != 0 {
		t.Errorf("a calm machine: %+v, %d in vain", calm, s.patience.vain)
	}
}

// TestGarbageBeforeTheWait: garbage is collected before a trial waits for the machine, not
// between that and the trial.
func TestGarbageBeforeTheWait(t *testing.T) {
	s := newSite(&Options{Run: &record.Run{}})
	if err := s.settle(t.Context(), &openEnv{virtual: true}, &record.Trial{}); err != nil || s.sinceGC != 1 {
		t.Errorf("%d after a wait, %v", s.sinceGC, err)
	}
}
