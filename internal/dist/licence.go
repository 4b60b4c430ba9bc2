package main

import (
	"fmt"
	"io"
	"path"
	"strings"
)

// isLicence knows the files that state terms by their names.
func isLicence(name string) bool {
	if ext := strings.ToLower(path.Ext(name)); ext == ".go" || ext == ".s" || ext == ".js" {
		return false
	}
	name = strings.ToUpper(name)
	for _, begins := range []string{"LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "PATENTS"} {
		if strings.HasPrefix(name, begins) {
			return true
		}
	}
	return false
}

// licences names the licences in a text by words that each cannot lack; SPDX
// ids. A notice has none.
func licences(content string) []string {
	words := strings.ToLower(strings.Join(strings.Fields(content), " "))
	has := func(s string) bool { return strings.Contains(words, s) }
	var ids []string
	add := func(id string, is bool) {
		if is {
			ids = append(ids, id)
		}
	}
	add("Apache-2.0", has("apache license") && has("version 2.0") && has("terms and conditions for use"))
	add("MPL-2.0", has("mozilla public license version 2.0") || has("mozilla public license, version 2.0"))
	add("MIT", has("permission is hereby granted, free of charge, to any person obtaining a copy"))
	fee := has("permission to use, copy, modify, and/or distribute this software for any purpose") ||
		has("permission to use, copy, modify, and distribute this software for any purpose")
	keep := has("provided that the above copyright notice")
	add("ISC", fee && keep)
	add("0BSD", fee && !keep)
	bsd, names := has("redistribution and use in source and binary forms"), has("neither the name") || has("the names of its contributors")
	add("BSD-3-Clause", bsd && names)
	add("BSD-2-Clause", bsd && !names)
	add("OFL-1.1", has("sil open font license version 1.1") || has("sil open font license, version 1.1"))
	add("FTL", has("freetype license")) // offered beside the GPL, and chosen
	add("CC0-1.0", has("cc0 1.0 universal"))
	return ids
}

// notice writes what the licences of the parts ask for: their texts.
func notice(w io.Writer, parts []part) error {
	_, err := fmt.Fprint(w, "Plimsoll contains the following parts, under these terms.\n")
	for _, p := range parts {
		if err == nil {
			_, err = fmt.Fprintf(w, "\n%s\n%s %s: %s\n", strings.Repeat("=", 78), p.name, p.version, strings.Join(p.licenses, ", "))
		}
		for _, t := range p.texts {
			if err == nil {
				_, err = fmt.Fprintf(w, "%s\n%s\n\n%s\n", strings.Repeat("-", 78), t.path, strings.TrimRight(t.content, "\n"))
			}
		}
	}
	return err
}
