package image

import "slices"

// names are the images that have a name of their own, the default first. How each is
// made is a recipe of imagestore, whose tests hold the two together.
var names = []string{"payload", "busybox", "debian", "ubuntu-base", "toolbox", "alpine", "ubuntu", "centos"}

// Names lists them in the order in which they are shown. The list is the caller's own.
func Names() []string { return slices.Clone(names) }
