// Package web serves runs to a browser: the pages of `plimsoll serve`.
//
// It is opinionated. It reads and never writes: no request changes anything.
// While a run is measured on the same machine it must not be felt: nothing
// happens unless somebody looks, one watcher follows a run for all who look at
// it, reads only what is new, and rests many times as long as it worked. It
// trusts nobody: neither the page that sent a browser here, nor what a
// container wrote into a record.
//
// Why it is so: docs/decisions/page.md.
package web
