package adapter

import (
	"bytes"

	"plimsoll/internal/measure/engine"
)

// Plain is what a container has printed without the line ends of a terminal, where it
// was given one.
func Plain(output []byte, adds engine.Omitted) []byte {
	if !adds.Has(engine.Terminal) {
		return output
	}
	return bytes.ReplaceAll(output, []byte("\r\n"), []byte("\n"))
}
