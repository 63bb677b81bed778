package flaky

import (
	"os"
	"path/filepath"
	"testing"
)

// attempt counts the attempts of a test across processes, so that flaky tests fail on schedule.
func attempt(name string) int64 {
	path := filepath.Join(os.Getenv("ATTEMPTS"), name)
	file, _ := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	file.WriteString(".")
	info, _ := file.Stat()
	file.Close()
	return info.Size()
}

func TestPass(t *testing.T) {}

func TestPassesAtThirdAttempt(t *testing.T) {
	if n := attempt("third"); n < 3 {
		t.Errorf("attempt %d of third", n)
	}
}

func TestAlwaysFails(t *testing.T) { t.Errorf("attempt %d of always", attempt("always")) }

func TestGroup(t *testing.T) {
	t.Run("stable", func(t *testing.T) {})
	t.Run("passes at second attempt", func(t *testing.T) {
		if n := attempt("group"); n < 2 {
			t.Errorf("attempt %d of group", n)
		}
	})
}

func TestSkip(t *testing.T) { t.Skip("not today") }
