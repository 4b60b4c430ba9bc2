// Package progress reads what engines tell of a pull while it goes on: the same words by
// their API and by their command.
//
// It is opinionated: what an engine leaves out is missing, and never guessed from what
// came before and after it.
package progress

import (
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// Pull is what a daemon with Docker's API tells of a pull, the same to both clients.
//
// A layer goes through: Pulling fs layer, Downloading, Verifying Checksum,
// Download complete, Extracting, Pull complete; one that is held: Already
// exists. The daemon leaves out what is overtaken by what follows: where a
// layer's end of the transfer was not told, that step is missing for the image.
type Pull struct {
	Digest string // of the manifest at which it has arrived

	resolved int64
	layers   map[string]*layer
}

// layer has the stamps of one layer, CLOCK_MONOTONIC ns.
type layer struct{ verifying, downloaded, complete int64 }

// Add takes one message: the layer's id, "" or the tag where it is of the whole, and what
// is said of it.
func (p *Pull) Add(at int64, id, status string) {
	if v, ok := strings.CutPrefix(status, "Digest: "); ok {
		p.Digest = v
		return
	}
	if strings.HasPrefix(status, "Pulling from ") {
		p.resolved = at
		return
	}
	if id == "" {
		return
	}
	if strings.HasPrefix(status, "Already exists") {
		return
	}
	if p.layers == nil {
		p.layers = map[string]*layer{}
	}
	l := p.layers[id]
	switch status {
	case "Pulling fs layer", "Verifying Checksum", "Download complete", "Pull complete":
		if l == nil {
			l = &layer{}
			p.layers[id] = l
		}
	}
	switch status {
	case "Verifying Checksum":
		l.verifying = at
	case "Download complete":
		l.downloaded = at
	case "Pull complete":
		l.complete = at
	}
}

// AddLine takes one line of the command's, which prints the id before the words.
func (p *Pull) AddLine(at int64, text string) {
	id, status, ok := strings.Cut(text, ": ")
	if !ok || id == "Digest" || id == "Status" {
		id, status = "", text
	}
	p.Add(at, id, status)
}

// Steps are the ends of the parts: bytes are here when the last layer's
// checksum begins to be verified, verified when its download is called
// complete, unpacked when the last layer is complete.
//
// A daemon that unpacks a layer while it comes tells its download and its end
// at one time: transfer, verification and unpacking are one part then, which
// has no name, and whose parts are not told.
func (p *Pull) Steps(unpacksAlong bool) []record.Step {
	var out []record.Step
	if p.resolved != 0 {
		out = append(out, record.Step{Name: engine.StepResolve, At: p.resolved})
	}
	if len(p.layers) == 0 || unpacksAlong {
		return out
	}
	last := func(of func(*layer) int64) (at int64) {
		for _, l := range p.layers {
			v := of(l)
			if v == 0 {
				return 0
			}
			at = max(at, v)
		}
		return at
	}
	verifying := last(func(l *layer) int64 { return l.verifying })
	downloaded := last(func(l *layer) int64 { return l.downloaded })
	switch {
	case verifying != 0 && downloaded != 0:
		out = append(out, record.Step{Name: engine.StepTransfer, At: verifying}, record.Step{Name: engine.StepVerify, At: downloaded})
	case downloaded != 0: // the verification is in it
		out = append(out, record.Step{Name: engine.StepTransfer, At: downloaded})
	}
	if at := last(func(l *layer) int64 { return l.complete }); at != 0 {
		out = append(out, record.Step{Name: engine.StepUnpack, At: at})
	}
	return out
}

// Copying maps what Podman says while it pulls to the part that is over by then.
// It unpacks each layer as soon as that one is here, while others still come,
// so that unpacking is no part of its own: at StepTransfer it is done, too.
var Copying = []struct{ Line, Over string }{
	{"Getting image source signatures", engine.StepResolve},
	{"Writing manifest", engine.StepTransfer},
}
