package docker

import (
	"io"
	"sync"

	"github.com/moby/moby/api/pkg/stdcopy"

	"plimsoll/internal/measure/engine/stamp"
)

// output is a program's output as it comes from an attached connection.
type output struct {
	stdout, stderr *stamp.Stream
	done           chan struct{} // closed at the end of the stream
	ended          int64         // when that was; valid after done
	err            error         // valid after done

	conn    io.Closer
	closing sync.Once
}

// follow takes a stream of frames apart until it ends. The payload writes its
// first line by one call, which the daemon sends as one frame: the stamp is
// taken when the read that brought it has returned.
func follow(r io.Reader, conn io.Closer, limit int) *output {
	o := &output{stdout: stamp.NewStream(limit), stderr: stamp.NewStream(limit), done: make(chan struct{}), conn: conn}
	go func() {
		defer close(o.done)
		_, o.err = stdcopy.StdCopy(o.stdout, o.stderr, r)
		o.ended = stamp.Now()
	}()
	return o
}

// close ends the connection, and so the stream. It is safe to call twice.
func (o *output) close() { o.closing.Do(func() { _ = o.conn.Close() }) }
