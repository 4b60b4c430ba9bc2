package run

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// Accompanied says whether the life cycles of a block have company, in a run whose
// AtOnce is above 1. Every second block is traced, so these are every second pair.
func Accompanied(block int) bool { return block/2%2 == 1 }

// LastReady is what an accompanied trial keeps of its company: the time from the
// request of the first of them until the last was ready, in ns.
const LastReady = "last-ready"

// inCompany carries a life cycle out while others of the same environment, which are
// requested at the same moment, are carried out beside it; n in all. It gives the one's
// result and the time until the last of all was ready, ns.
//
// Which of them is the one is drawn: on a machine with fewer processors than starts, and
// before a daemon that does one after the other, whoever asks first is served first, and
// stands for none of the others.
func inCompany(ctx context.Context, env engine.Environment, task engine.Task, n int) (engine.Result, int64, error) {
	all := make([]companion, n)
	one := &all[rand.IntN(n)] //nolint:gosec // nobody gains by guessing it
	var ready, done sync.WaitGroup
	ready.Add(n)
	begin := make(chan struct{})
	for i := range all {
		own, c := task, &all[i]
		own.Name = member(task.Name, i)
		if c != one {
			c.word = newWord()
			own.Argv = probe.PayloadArgs{Word: c.word}.Argv(probePath)
		}
		done.Go(func() {
			ready.Done()
			<-begin
			c.res, c.err = runGuarded(ctx, env, own)
		})
	}
	ready.Wait()
	from := stamp.Now()
	close(begin)
	done.Wait()
	res, last := one.res, int64(0)
	for i := range all {
		c := &all[i]
		last = max(last, c.res.Events[record.Ready])
		if c == one {
			continue
		}
		if f := unstarted(c.res, c.err, c.word); f != nil && one.err == nil && res.Failure == nil {
			res.Failure = &record.Failure{Class: f.Class, Text: fmt.Sprintf("one of the %d at once: %s", n, f.Text)}
		}
	}
	return res, last - from, one.err
}

// member names one of several containers that are there at once. No such name is the
// beginning of another, which runsc would take for either.
func member(name string, i int) string { return fmt.Sprintf("%s-%05d", name, i) }

// companion is one of those that begin together; word is what it says, where it is not
// the measured one.
type companion struct {
	word string
	res  engine.Result
	err  error
}
