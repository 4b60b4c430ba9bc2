// Package tune knows the states of a machine that make the starts of containers
// scatter, whether they can be set here, and how each is set and put back.
//
// It is opinionated: only what the kernel lets one change at run time and change
// back, nothing that needs a reboot, a service or a file of the distribution's; each
// with its price, since a machine that is tuned is not the one that users have.
// Why these: docs/decisions/tuning.md.
package tune
