package trace

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// TestKilled: of a recorder that is killed while it records, no program and no link is
// left in the kernel.
func TestKilled(t *testing.T) {
	recorder(t) // or it skips
	c := exec.Command("/proc/self/exe")
	c.Args = []string{"killed-recorder"}
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	said, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	left := map[string]uint32{}
	for word := range strings.FieldsSeq(said) {
		what, number, _ := strings.Cut(word, ":")
		var id uint32
		_, err := fmt.Sscan(number, &id)
		require.NoError(t, err)
		left[what] = id
	}
	if len(left) == 0 {
		t.Skip("this kernel takes no programs")
	}
	for what, id := range left {
		if gone(what, id) {
			t.Errorf("%s %d is not there while it records", what, id)
		}
	}
	require.NoError(t, c.Process.Kill())
	_ = c.Wait()
	for range 500 { // the kernel lets go of them after a grace period
		for what, id := range left {
			if gone(what, id) {
				delete(left, what)
			}
		}
		if len(left) == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("left in the kernel: %v", left)
}

// gone asks the kernel for a program or a link by its number, which is not given again.
func gone(what string, id uint32) bool {
	if strings.HasPrefix(what, "link") {
		l, err := link.NewFromID(link.ID(id))
		if err == nil {
			_ = l.Close()
		}
		return errors.Is(err, os.ErrNotExist)
	}
	p, err := ebpf.NewProgramFromID(ebpf.ProgramID(id))
	if err == nil {
		_ = p.Close()
	}
	return errors.Is(err, os.ErrNotExist)
}

// recordUntilKilled says the numbers of the programs and links with which it records.
func recordUntilKilled() {
	r, err := Open(Options{Stacks: true, Code: true, AllCalls: true, Pages: 64})
	must(err)
	_, err = r.Record(func() (record.TraceHead, error) {
		var programs []*ebpf.Program
		var links []link.Link
		if l := r.switches; l != nil {
			programs, links = append(programs, l.switching, l.waking), append(links, l.links...)
		}
		if l := r.execs; l != nil {
			programs, links = append(programs, l.program), append(links, l.links...)
		}
		if l := r.calls; l != nil {
			programs, links = append(programs, l.enter, l.leave), append(links, l.links...)
		}
		for i, p := range programs {
			info, err := p.Info()
			must(err)
			id, _ := info.ID()
			fmt.Printf("program%d:%d ", i, id)
		}
		for i, l := range links {
			info, err := l.Info()
			must(err)
			fmt.Printf("link%d:%d ", i, info.ID)
		}
		fmt.Println()
		time.Sleep(time.Hour)
		return record.TraceHead{}, nil
	})
	must(err)
}
