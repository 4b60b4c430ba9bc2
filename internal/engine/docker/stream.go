package docker

import (
	"io"

	"github.com/moby/moby/api/pkg/stdcopy"
)

// defaultOutput is kept of each stream where the task names no limit, bytes.
const defaultOutput = 64 << 10

// capture keeps the head of a stream and stamps its first byte.
type capture struct {
	limit int
	kept  []byte
	first int64         // CLOCK_MONOTONIC ns; 0 until something came
	ready chan struct{} // closed at the first byte; may be nil
}

// Write never fails: what is over the limit is thrown away.
func (c *capture) Write(p []byte) (int, error) {
	if c.first == 0 && len(p) > 0 {
		c.first = now()
		if c.ready != nil {
			close(c.ready)
		}
	}
	if room := c.limit - len(c.kept); room > 0 {
		c.kept = append(c.kept, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

// output is the container's output as it comes from an attached connection.
type output struct {
	stdout, stderr capture
	done           chan struct{} // closed at the end of the stream
	err            error         // valid after done
}

// follow takes a stream of frames apart until it ends. The payload writes its
// first line by one call, which the daemon sends as one frame: the stamp is
// taken when the read that brought it has returned.
func follow(r io.Reader, limit int) *output {
	if limit <= 0 {
		limit = defaultOutput
	}
	o := &output{
		stdout: capture{limit: limit, ready: make(chan struct{})},
		stderr: capture{limit: limit},
		done:   make(chan struct{}),
	}
	go func() {
		defer close(o.done)
		_, o.err = stdcopy.StdCopy(&o.stdout, &o.stderr, r)
	}()
	return o
}
