// Package mpi is the MPI program of ours, and what it prints.
//
// It is opinionated: one program, the same bits in every image, loads whatever
// MPI library the image has, so that no image needs a compiler and no two
// environments run different code; the operations and their definitions are those
// of the OSU micro-benchmarks, IOR, HACC-IO and mdtest; and a number is printed
// only where what arrived was what was sent.
//
// Why it is so: docs/decisions/mpi.md.
package mpi
