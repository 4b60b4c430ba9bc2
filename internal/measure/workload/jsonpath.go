package workload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A path into JSON: keys and places (from 0) with dots between, # for every
// entry of a list, \. for a dot in a key.

// splitPath gives the steps of a path.
func splitPath(path string) ([]string, error) {
	var steps []string
	var step strings.Builder
	for i := 0; i < len(path); i++ {
		switch {
		case path[i] == '\\' && i+1 < len(path):
			i++
			step.WriteByte(path[i])
		case path[i] == '.':
			steps = append(steps, step.String())
			step.Reset()
		default:
			step.WriteByte(path[i])
		}
	}
	steps = append(steps, step.String())
	if slices.Contains(steps, "") {
		return nil, fmt.Errorf("the path %q has an empty step", path)
	}
	return steps, nil
}

// jsonNumbers gives the numbers at a path, at least one. A number in quotes is
// one too: some programs print them so.
func jsonNumbers(data []byte, path string) ([]float64, error) {
	steps, err := splitPath(path)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var doc any
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("the output is no JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the output goes on after the JSON document")
	}
	var found []float64
	if err := walkJSON(doc, steps, &found); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: the list is empty", path)
	}
	return found, nil
}

func walkJSON(v any, steps []string, found *[]float64) error {
	if len(steps) == 0 {
		var text string
		switch x := v.(type) {
		case json.Number:
			text = x.String()
		case string:
			text = x
		default:
			return errors.New("this is not a number")
		}
		n, err := parseNumber(text)
		if err != nil {
			return err
		}
		*found = append(*found, n)
		return nil
	}
	step := steps[0]
	switch x := v.(type) {
	case map[string]any:
		next, ok := x[step]
		if !ok {
			return fmt.Errorf("there is no key %q", step)
		}
		return walkJSON(next, steps[1:], found)
	case []any:
		if step == "#" {
			for _, next := range x {
				if err := walkJSON(next, steps[1:], found); err != nil {
					return err
				}
			}
			return nil
		}
		i, err := strconv.Atoi(step)
		if err != nil || i < 0 || i >= len(x) {
			return fmt.Errorf("the list has no entry %q", step)
		}
		return walkJSON(x[i], steps[1:], found)
	}
	return fmt.Errorf("there is no %q: the value is neither a list nor has it keys", step)
}
