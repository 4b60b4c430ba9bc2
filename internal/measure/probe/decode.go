package probe

import (
	"bytes"
	"errors"
	"fmt"

	"plimsoll/internal/record"
)

var errFrame = errors.New("the launcher's frame is malformed; the probe and Plimsoll are not of one build")

// header is what stands before each frame's body.
type header struct {
	length  uint32
	version uint16
	kind    uint16
	seq     uint64
}

// maxAnswer bounds what a launcher may send: the pool of all output, and
// what stands before it.
const maxAnswer = maxPool + 1<<20

func decodeHeader(b []byte) (header, error) {
	if len(b) < headerSize {
		return header{}, errFrame
	}
	h := header{le.Uint32(b), le.Uint16(b[4:]), le.Uint16(b[6:]), le.Uint64(b[8:])}
	if h.version != frameVersion {
		return h, fmt.Errorf("the launcher speaks version %d of the frames, not %d: the probe and Plimsoll are not of one build", h.version, frameVersion)
	}
	if h.length > maxAnswer {
		return h, errFrame
	}
	return h, nil
}

// reader reads a frame's body; once it has run out, everything is 0 and bad
// is set.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) bytes(n int) []byte {
	if r.bad || n < 0 || n > len(r.b) {
		r.bad = true
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) u32() uint32 {
	if b := r.bytes(4); b != nil {
		return le.Uint32(b)
	}
	return 0
}

func (r *reader) i64() int64 {
	if b := r.bytes(8); b != nil {
		return int64(le.Uint64(b))
	}
	return 0
}

func (r *reader) text() string { return string(r.bytes(int(r.u32()))) }

// count reads a number of things of at least size bytes each, so that a
// wrong number can't make us allocate more than the frame's own size.
func (r *reader) count(size int) int {
	n := r.u32()
	if uint64(n)*uint64(size) > uint64(len(r.b)) {
		r.bad = true
		return 0
	}
	return int(n)
}

// commandSize is the least that a command takes in a result.
const commandSize = 4*8 + 3*4 + 4 + 4*8 + 3*4

// decodeResult reads the body of a result. Nothing in it refers to body.
func decodeResult(body []byte) (res *JobResult, aborted bool, err error) {
	r := &reader{b: body}
	res = &JobResult{Ready: r.i64(), ContainerExit: r.i64(), ContainerStatus: int(int32(r.u32()))}
	flags := r.u32()
	res.ContainerReaped = flags&1 != 0
	res.ContainerLate = flags&2 != 0
	res.TimedOut = flags&4 != 0
	aborted = flags&8 != 0
	res.Killed = flags&16 != 0
	res.over = flags&32 != 0
	for range r.count(4) {
		res.Strays = append(res.Strays, int(r.u32()))
	}
	if n := r.count(24); n > 0 {
		res.Offsets = make([]Exchange, n)
		for i := range res.Offsets {
			res.Offsets[i] = Exchange{Sent: r.i64(), Inside: r.i64(), Received: r.i64()}
		}
	}
	res.Commands = make([]CommandResult, r.count(commandSize))
	var lengths [2 * maxCommands]int
	if len(res.Commands) > maxCommands {
		return nil, false, errFrame
	}
	for i := range res.Commands {
		lengths[2*i], lengths[2*i+1] = decodeCommand(r, &res.Commands[i])
	}
	for i := range res.Commands {
		c := &res.Commands[i]
		c.Stdout = clone(r.bytes(lengths[2*i]))
		c.Stderr = clone(r.bytes(lengths[2*i+1]))
	}
	if r.bad || len(r.b) != 0 {
		return nil, false, errFrame
	}
	return res, aborted, nil
}

func clone(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return bytes.Clone(b)
}

func decodeCommand(r *reader, c *CommandResult) (out, err int) {
	c.Spawn, c.Exec, c.First, c.Exit = r.i64(), r.i64(), r.i64(), r.i64()
	c.Skipped = r.u32()&1 != 0
	c.Errno = int(int32(r.u32()))
	c.Status = int(int32(r.u32()))
	c.Where = r.text()
	c.Usage = record.Usage{UserNS: r.i64(), SystemNS: r.i64(), MaxRSS: r.i64()}
	c.Dropped = r.i64()
	for range r.count(12) {
		c.Steps = append(c.Steps, record.Step{Name: r.text(), At: r.i64()})
	}
	return int(r.u32()), int(r.u32())
}
