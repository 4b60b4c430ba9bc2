package stamp

import "sync"

// defaultOutput is kept of a stream where the task names no limit, bytes.
const defaultOutput = 64 << 10

// Stream keeps the head of what is written to it and stamps the first byte.
// It may be read while it is written to.
type Stream struct {
	mu    sync.Mutex
	limit int
	kept  []byte
	first int64
	ready chan struct{}
}

// NewStream makes a stream that keeps so many bytes; 0 means 64 KiB.
func NewStream(limit int) *Stream {
	if limit <= 0 {
		limit = defaultOutput
	}
	return &Stream{limit: limit, ready: make(chan struct{})}
}

// Write never fails: what is over the limit is thrown away.
func (s *Stream) Write(p []byte) (int, error) {
	at := Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first == 0 && len(p) > 0 {
		s.first = at
		close(s.ready)
	}
	if room := s.limit - len(s.kept); room > 0 {
		s.kept = append(s.kept, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

// Ready is closed at the first byte.
func (s *Stream) Ready() <-chan struct{} { return s.ready }

// First is when the first byte came, CLOCK_MONOTONIC ns; 0 where none has.
func (s *Stream) First() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first
}

// Kept is a copy of what was kept.
func (s *Stream) Kept() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]byte(nil), s.kept...)
}
