// Package words says in words what tables, pictures, pages and messages say
// alike: numbers with their intervals, units, names, lists and sentences.
//
// It is opinionated: a number has as many digits as its interval deserves, one
// unit holds for a whole column, and text from a container or a file is cleaned
// before it is shown anywhere.
package words
