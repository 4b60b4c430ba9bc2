//go:build linux

package cli

import (
	"github.com/spf13/cobra"

	"plimsoll/internal/measure/imagestore"
)

// mirrorFlag adds the flag that names a mirror of Docker Hub.
func mirrorFlag(c *cobra.Command, address *string) {
	c.Flags().StringVar(address, "mirror", "", "a registry to ask for docker.io's images in its place, such as https://mirror.example (default: $PLIMSOLL_MIRROR)")
}

// useMirror takes a mirror in place of what the environment names, if one is
// given.
func (s *setting) useMirror(address string) error {
	if address == "" {
		return nil
	}
	m, err := imagestore.ParseMirror(address)
	if err != nil {
		return &exitError{status: Usage, err: err}
	}
	s.mirror = m
	return nil
}
