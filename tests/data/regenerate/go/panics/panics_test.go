package panics

import "testing"

func TestPass(t *testing.T) {}

func TestPanic(t *testing.T) {
	var numbers map[string]int
	numbers["one"] = 1
}

func TestNeverReached(t *testing.T) {}
