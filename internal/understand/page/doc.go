// Package page writes the HTML report: one file that needs nothing else and
// loads nothing, opened from disk in any current browser.
//
// It is opinionated. What a reader must know stands in the page itself and can
// be read without JavaScript: what was measured, whether it can be trusted, the
// verdict, the ranking, failures, what is missing, and how to repeat it. The
// charts, filters and raw trials are drawn by one script from the data of
// package view, which are in the page too, packed. Nothing that comes from a
// container or a file becomes markup: templates escape, the script makes text
// nodes, and the page's policy lets no other script run.
//
// Why it is so: docs/decisions/page.md.
package page
