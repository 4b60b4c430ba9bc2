package docker

import (
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// progress is what a daemon tells of a pull, the same to both clients.
//
// A layer goes through: Pulling fs layer, Downloading, Verifying Checksum,
// Download complete, Extracting, Pull complete; one that is held: Already
// exists. The daemon leaves out what is overtaken by what follows: where a
// layer's end of the transfer was not told, that step is missing for the image.
type progress struct {
	resolved int64
	digest   string
	layers   map[string]*layerProgress
}

// layerProgress has the stamps of one layer, CLOCK_MONOTONIC ns.
type layerProgress struct{ verifying, downloaded, complete int64 }

func (p *progress) add(at int64, id, status string) {
	if v, ok := strings.CutPrefix(status, "Digest: "); ok {
		p.digest = v
		return
	}
	if strings.HasPrefix(status, "Pulling from ") {
		p.resolved = at
		return
	}
	if id == "" || strings.HasPrefix(status, "Already exists") {
		return
	}
	if p.layers == nil {
		p.layers = map[string]*layerProgress{}
	}
	l := p.layers[id]
	switch status {
	case "Pulling fs layer", "Verifying Checksum", "Download complete", "Pull complete":
		if l == nil {
			l = &layerProgress{}
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

// steps are the ends of the parts: bytes are here when the last layer's
// checksum begins to be verified, verified when its download is called
// complete, unpacked when the last layer is complete.
//
// A daemon that unpacks a layer while it comes tells its download and its end
// at one time: transfer, verification and unpacking are one part then, which
// has no name, and whose parts are not told.
func (p *progress) steps(unpacksAlong bool) []record.Step {
	var out []record.Step
	if p.resolved != 0 {
		out = append(out, record.Step{Name: engine.StepResolve, At: p.resolved})
	}
	if len(p.layers) == 0 || unpacksAlong {
		return out
	}
	last := func(of func(*layerProgress) int64) (at int64) {
		for _, l := range p.layers {
			v := of(l)
			if v == 0 {
				return 0
			}
			at = max(at, v)
		}
		return at
	}
	verifying := last(func(l *layerProgress) int64 { return l.verifying })
	downloaded := last(func(l *layerProgress) int64 { return l.downloaded })
	switch {
	case verifying != 0 && downloaded != 0:
		out = append(out, record.Step{Name: engine.StepTransfer, At: verifying}, record.Step{Name: engine.StepVerify, At: downloaded})
	case downloaded != 0: // the verification is in it
		out = append(out, record.Step{Name: engine.StepTransfer, At: downloaded})
	}
	if at := last(func(l *layerProgress) int64 { return l.complete }); at != 0 {
		out = append(out, record.Step{Name: engine.StepUnpack, At: at})
	}
	return out
}
