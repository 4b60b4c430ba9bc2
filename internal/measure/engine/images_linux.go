package engine

import "plimsoll/internal/measure/image"

// ImageLevels are the levels of the factor image for an engine that takes
// whatever image it is given: the whole catalogue, the default first. Which of
// them are built, or can be, is the store's to say.
func ImageLevels() []string { return image.Names() }
