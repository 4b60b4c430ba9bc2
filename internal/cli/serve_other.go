//go:build !linux

package cli

import "plimsoll/internal/understand/web"

// watchLive leaves out what only Linux tells: nothing is measured elsewhere.
func watchLive(*web.Options) (close func()) { return func() {} }
