//go:build linux

package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"plimsoll/internal/common/filelock"
	"plimsoll/internal/common/safepath"
)

// Queue is a place among those who wait for the machine's turn: who came first has
// it first, and nobody passes. A place is a file that its process has locked, so that
// it goes with the process, however that ends; numbers rise in the order of coming.
type Queue struct {
	m      Machine
	root   bool
	own    string // the lock that is waited for
	study  string
	ticket *os.File // nil as long as nobody waits
	name   string
}

// NewQueue finds where the turn is taken, by the user's environment. study is what is to
// be measured, for who waits. Nobody waits before Join.
func NewQueue(root bool, getenv func(string) string, study string) (*Queue, error) {
	q := &Queue{root: root, own: systemLock, study: study}
	if !root {
		own, err := q.m.userLock(getenv)
		if err != nil {
			return nil, fmt.Errorf("taking the machine's turn to measure: %w", err)
		}
		q.own = own
	}
	return q, nil
}

// Lock takes this machine's turn to measure, or gives a *BusyError at once: where
// somebody else has it, and where others came first. The lock is the kernel's: it ends
// with the process, however that ends; unlock may be called twice.
//
// Each lock lies where only its owner can make or open it: root's in
// /run/plimsoll, an ordinary user's in the runtime directory or, without a session, in
// the user's state directory, by the host's name. So nobody can keep root from measuring, nor one
// user another. An ordinary user who finds root measuring is refused. Root goes
// on beside an ordinary user, and beside says who that is.
func (q *Queue) Lock() (unlock func(), beside *BusyError, err error) {
	first, before, err := q.before()
	if err != nil {
		return nil, nil, err
	}
	if first != nil {
		busy := first
		busy.Waits = true
		holder := q.m.held(q.own)
		if holder == nil && !q.root {
			holder = q.m.held(systemLock)
		}
		if holder != nil {
			busy = holder
		}
		busy.Before = before
		return nil, nil, busy
	}
	t, err := q.m.acquire(q.root, q.own, q.study)
	if err != nil {
		return nil, nil, err
	}
	q.Leave()
	if q.root {
		beside = q.m.others(q.own)
	}
	return t.release, beside, nil
}

// Join takes the last place of the queue; a second call keeps it.
func (q *Queue) Join() error {
	if q.ticket != nil {
		return nil
	}
	return q.locked(func(dir *safepath.Dir, places []string) error {
		last := 0
		if len(places) > 0 {
			last, _ = strconv.Atoi(places[len(places)-1])
		}
		name := fmt.Sprintf("%012d", last+1)
		f, err := dir.Create(name, 0o600)
		if err != nil {
			return err
		}
		if err := filelock.TryLock(f); err != nil {
			f.Close()
			return err
		}
		_, _ = f.WriteString(q.study + "\n") // for who waits behind
		q.ticket, q.name = f, name
		return nil
	})
}

// Leave gives the place up. It may be called twice.
func (q *Queue) Leave() {
	if q.ticket == nil {
		return
	}
	// What stays is a place without a process, which the next one takes away.
	_ = q.locked(func(dir *safepath.Dir, _ []string) error { return dir.Remove(q.name) })
	q.ticket.Close()
	q.ticket = nil
}

// before is who waits first, and how many wait before us; nil where nobody does.
// A process that is stopped keeps its place, and lets others pass.
func (q *Queue) before() (first *BusyError, n int, err error) {
	if !q.root {
		first, n = q.rootsBefore()
	}
	if _, err := os.Lstat(q.m.path(queueOf(q.own))); errors.Is(err, os.ErrNotExist) {
		return first, n, nil // nobody has ever waited here
	}
	err = q.locked(func(_ *safepath.Dir, places []string) error {
		for _, name := range places {
			if q.ticket != nil && name >= q.name {
				break
			}
			p := filepath.Join(queueOf(q.own), name)
			who := cmp.Or(q.m.held(p), &BusyError{File: p})
			if who.PID != 0 && q.m.stopped(who.PID) {
				continue
			}
			if n++; first == nil {
				first = who
			}
		}
		return nil
	})
	return first, n, err
}

// rootsBefore is the same of root's queue, for an ordinary user: its places can't be
// opened, but who holds them and when they were taken can be seen.
func (q *Queue) rootsBefore() (first *BusyError, n int) {
	mine := time.Now()
	if q.ticket != nil {
		if info, err := q.ticket.Stat(); err == nil {
			mine = info.ModTime()
		}
	}
	places, err := os.ReadDir(q.m.path(queueOf(systemLock)))
	if err != nil {
		return nil, 0 // nobody of root has ever waited
	}
	for _, place := range places { // in the order of their numbers
		who := q.m.held(filepath.Join(queueOf(systemLock), place.Name()))
		if who == nil || place.Name() == queueDoor || who.Since.After(mine) || q.m.stopped(who.PID) {
			continue
		}
		if n++; first == nil {
			first = who
		}
	}
	return first, n
}

// queueDoor is the file that who looks at a queue has locked.
const queueDoor = "door"

// queueOf is where the places for a lock are.
func queueOf(lock string) string { return filepath.Join(filepath.Dir(lock), "queue") }

// stopped says whether a process is stopped, such as by Ctrl-Z.
func (m Machine) stopped(pid int) bool {
	st, err := m.proc().Stat(pid)
	return err == nil && (st.State == 'T' || st.State == 't')
}

// queuePatience bounds the wait for another process that looks at the queue, which
// takes it no time.
const queuePatience = 5 * time.Second

// locked calls do with the queue's places, in their order, while nobody else looks at
// them. Those whose process has ended are taken away before.
func (q *Queue) locked(do func(dir *safepath.Dir, places []string) error) error {
	err := func() error {
		dir, err := safepath.Make(q.m.path(queueOf(q.own)), 0o755, safepath.Rule{Lasting: true})
		if err != nil {
			return err
		}
		defer dir.Close()
		if !dir.OursAlone() {
			return fmt.Errorf("%s is not ours alone", dir.Path())
		}
		f, err := dir.OpenFile(queueDoor, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		patience, cancel := context.WithTimeout(context.Background(), queuePatience)
		defer cancel()
		if err := filelock.Wait(patience, f, filelock.TryLock); err != nil {
			return fmt.Errorf("locking %s: %w", queueDoor, err)
		}
		all, err := dir.List()
		if err != nil {
			return err
		}
		var places []string
		for _, e := range all {
			if name := e.Name(); name != queueDoor && !q.abandoned(dir, name) {
				places = append(places, name)
			}
		}
		slices.Sort(places)
		return do(dir, places)
	}()
	if err != nil {
		return fmt.Errorf("waiting for the machine's turn in %s: %w", queueOf(q.own), err)
	}
	return nil
}

// abandoned takes a place away that no process has locked.
func (q *Queue) abandoned(dir *safepath.Dir, name string) bool {
	if q.ticket != nil && name == q.name {
		return false
	}
	f, err := dir.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return true // it has just gone, or is none of ours
	}
	defer f.Close()
	if filelock.TryLock(f) != nil {
		return false
	}
	_ = dir.Remove(name)
	return true
}
