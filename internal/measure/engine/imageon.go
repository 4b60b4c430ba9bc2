package engine

import (
	"fmt"
	"regexp"

	"plimsoll/internal/record"
)

// placeName is what a level of ImageOn may be called: it becomes part of ids.
var placeName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

// IsPlace says whether a text can be a level of ImageOn other than the default,
// which is the state directory.
func IsPlace(s string) bool { return placeName.MatchString(s) && s != DefaultLevel }

// buildName is what a level of Build may be called: a place's name, or a release's
// number.
var buildName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*(\.[a-z0-9-]+)*$`)

// IsBuild says whether a text can be a level of Build other than the default, which
// is the program of the machine.
func IsBuild(s string) bool { return len(s) <= 32 && buildName.MatchString(s) && s != DefaultLevel }

// NoPlace is the error of an environment whose level of ImageOn has no directory.
func NoPlace(level string) *Error {
	return &Error{Class: record.Unavailable, Text: fmt.Sprintf("nobody said which directory %s=%s is", ImageOn, level),
		Fix: fmt.Sprintf("--%s %s=DIR, a directory on that file system", ImageOn, level)}
}

// on is the kit with its images on the file system of a level of ImageOn.
func (k *Kit) on(level string) (*Kit, error) {
	if level == DefaultLevel {
		return k, nil
	}
	images, ok := k.Elsewhere[level]
	if !ok {
		return nil, NoPlace(level)
	}
	there := *k
	there.Images = images
	return &there, nil
}
