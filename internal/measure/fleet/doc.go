// Package fleet runs a study on other hosts, which are reached by the system's
// own ssh: it copies this program there, starts the run, follows it, fetches the
// record and takes everything away again.
//
// It is opinionated: ssh is the user's, with his configuration, agent and known
// hosts, and nothing here makes it less careful; the run belongs to the host and
// not to the connection, so that it goes on where that is lost; what is on a host
// is ours only where its folder's ledger names the run; and what a host sends is
// a stranger's: it is written below one folder and nowhere else.
//
// The near side is Host, which drives ssh; the far side is Here, which the copied
// program is.
//
// Why it is so: docs/decisions/fleet.md.
package fleet
