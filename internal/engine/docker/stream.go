package docker

import (
	"io"

	"github.com/moby/moby/api/pkg/stdcopy"

	"plimsoll/internal/engine/stamp"
)

// output is the container's output as it comes from an attached connection.
type output struct {
	stdout, stderr *stamp.Stream
	done           chan struct{} // closed at the end of the stream
	err            error         // valid after done
}

// follow takes a stream of frames apart until it ends. The payload writes its
// first line by one call, which the daemon sends as one frame: the stamp is
// taken when the read that brought it has returned.
func follow(r io.Reader, limit int) *output {
	o := &output{stdout: stamp.NewStream(limit), stderr: stamp.NewStream(limit), done: make(chan struct{})}
	go func() {
		defer close(o.done)
		_, o.err = stdcopy.StdCopy(o.stdout, o.stderr, r)
	}()
	return o
}
