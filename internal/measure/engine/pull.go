package engine

import (
	"context"

	"plimsoll/internal/record"
)

// Puller is an Environment that can get an image from a registry, in the
// engine's own way: by its API where the environment's client is an API, else
// by its command. Nothing of it ever happens inside a start.
type Puller interface {
	// Pull gets the image into the engine's store. The caller has dropped it
	// before for a cold pull; else the engine may find layers that it has.
	Pull(ctx context.Context, task PullTask) (Pulled, error)
	// Drop removes the image from the engine's store, and with it every layer
	// that no other image uses; that there was none is no error.
	Drop(ctx context.Context, ref string) error
	// Sizes says what the image takes in the engine's store.
	Sizes(ctx context.Context, ref string) (ImageSizes, error)
}

// Sizer is an Environment that is no Puller, since it gets its image in another
// way than from a registry, and can say what that takes: with an empty
// reference it means the environment's own image.
type Sizer interface {
	Sizes(ctx context.Context, ref string) (ImageSizes, error)
}

// Saver is a Puller whose engine packs an image that it has into one archive, as
// `docker save` does.
type Saver interface {
	// Save has the engine write the archive, which nobody keeps, and gives its
	// size in bytes.
	Save(ctx context.Context, ref string) (int64, error)
}

// PullTask is one pull.
type PullTask struct {
	// Ref is what to pull: HOST:PORT/plimsoll/NAME:TAG, from a registry on
	// loopback that speaks plain HTTP, with a tag of the run's own.
	Ref string
	// Digest is the manifest's, which the engine must arrive at (else the
	// failure is record.WrongComponent).
	Digest string
}

// Pulled is the course of one pull.
type Pulled struct {
	// Events has record.Request, and record.Ready: the image can be started from.
	Events map[record.Event]int64
	// Steps are stamps of the ends of the parts, in order, as far as the
	// engine tells them apart: StepResolve, StepTransfer, StepVerify,
	// StepUnpack, StepConvert. A part that the engine does not tell is missing,
	// never 0.
	Steps   []record.Step
	Client  *record.Usage
	Failure *record.Failure
}

// The parts of a pull.
const (
	StepResolve  = "resolve"  // the reference has become a digest
	StepTransfer = "transfer" // all bytes are here
	StepVerify   = "verify"   // they are what the digests say, as a part of its own
	StepUnpack   = "unpack"   // layers are unpacked into the storage driver
	StepConvert  = "convert"  // the engine's own format is made (SIF, SquashFS)
)

// ImageSizes is what an image takes, in bytes. A column that an engine does
// not have is -1, never 0.
type ImageSizes struct {
	// Printed is what the engine itself prints as the image's size (docker
	// images, ctr images ls …), which is another thing in every engine.
	Printed int64
	// Unpacked is the apparent size of the unpacked files.
	Unpacked int64
	// Disk is what is allocated on disk for it: st_blocks × 512 of all it keeps.
	Disk int64
	// Shared and Unique part Disk: used by other images too, or by this one only.
	Shared, Unique int64
	// Converted is the size of the archive made of it (SIF, SquashFS).
	Converted int64
	// How says how Disk was read, in a few words.
	How string
}
