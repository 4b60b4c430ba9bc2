package engine

import "testing"

// A task's own memory limit takes the place of the environment's, and of that
// alone.
func TestLimitsForTask(t *testing.T) {
	all := Limits{CPUs: 2, MemoryBytes: 1 << 30}
	for _, c := range []struct {
		of, want Limits
		task     Task
	}{
		{all, all, Task{}},
		{all, Limits{CPUs: 2, MemoryBytes: 4096}, Task{MemoryBytes: 4096}},
		{Limits{}, Limits{MemoryBytes: 4096}, Task{MemoryBytes: 4096}},
	} {
		if got := c.of.For(c.task); got != c.want {
			t.Errorf("%+v for a task of %d bytes: %+v, want %+v", c.of, c.task.MemoryBytes, got, c.want)
		}
	}
}
