// Package stamp holds what a release is known by.
package stamp

import (
	"errors"
	"os"
	"strconv"
	"time"
)

// Stamp is the version and the time that stand in all that a release is made of.
type Stamp struct {
	Version string
	Time    time.Time
}

// Read reads it from the environment, as build.sh gives it.
func Read() (Stamp, error) {
	epoch, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil || os.Getenv("VERSION") == "" {
		return Stamp{}, errors.New("VERSION and SOURCE_DATE_EPOCH (seconds) are not both given: build.sh does")
	}
	return Stamp{os.Getenv("VERSION"), time.Unix(epoch, 0).UTC()}, nil
}
