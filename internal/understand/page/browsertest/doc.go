// Package browsertest opens a page in headless Chromium and looks at it as a
// reader would: what is drawn, what the keyboard reaches, what is saved and
// printed. It is for tests, benchmarks and the pictures of the documentation.
//
// It is opinionated. Whatever a page complains of, asks the network for or pops
// up is a problem that Problems returns, without being asked to look for it.
package browsertest
