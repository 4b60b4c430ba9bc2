package tune

import (
	"fmt"
	"strconv"
	"strings"
)

// TunedMeans says in words what the state is once it is set, and "" where that is a word
// itself.
func (s State) TunedMeans() string {
	if len(s.Changes) == 0 {
		return ""
	}
	return s.means(s.Changes[0].Path, s.Changes[0].New)
}

// means says in words what a file of the setting says by a value, such as "every 5 s" of
// 500 centiseconds; "" where the value is a word itself, or none that is known.
func (s Setting) means(path, value string) string {
	if strings.HasSuffix(path, "/no_turbo") { // of the two files of turbo the one that forbids it
		return map[string]string{"0": "faster while cool", "1": "no faster"}[value]
	}
	if s.unit == nil || value == "" {
		return ""
	}
	return s.unit(value)
}

func onOff(value string) string { return map[string]string{"0": "off", "1": "on"}[value] }

// boost is the file of turbo that allows it.
func boost(value string) string {
	return map[string]string{"0": "no faster", "1": "faster while cool"}[value]
}

// numaModes are bits: Documentation/admin-guide/sysctl/kernel.rst.
func numaModes(value string) string {
	return map[string]string{"0": "off", "1": "on", "2": "on, between kinds of memory", "3": "on, between kinds of memory too"}[value]
}

// number gives words to a value that is one.
func number(value string, say func(n float64) string) string {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || n < 0 {
		return ""
	}
	return say(n)
}

func centiseconds(value string) string {
	return number(value, func(n float64) string {
		if n == 0 {
			return "never"
		}
		return fmt.Sprintf("every %g s", n/100)
	})
}

func seconds(value string) string {
	return number(value, func(n float64) string { return fmt.Sprintf("every %g s", n) })
}

func microseconds(value string) string {
	return number(value, func(n float64) string { return fmt.Sprintf("awake within %g µs", n) })
}

func ofHundred(value string) string {
	return number(value, func(n float64) string {
		if n == 0 {
			return "only when needed"
		}
		return fmt.Sprintf("%g of 100", n)
	})
}

// swappiness is from 0 to 200, from which on swapping costs no more than reading a file
// again: Documentation/admin-guide/sysctl/vm.rst.
func swappiness(value string) string {
	return number(value, func(n float64) string {
		if n == 0 {
			return "last of all"
		}
		return fmt.Sprintf("%g of 200", n)
	})
}

func processors(value string) string {
	if strings.ContainsAny(value, ",-") {
		return "processors " + value
	}
	return "processor " + value
}
