package sums

import (
	"fmt"
	"os"
	"testing"
)

func TestPass(t *testing.T) {}

func TestFail(t *testing.T) {
	fmt.Println("printed before the failure")
	t.Log("a log line")
	t.Errorf("got %d, want %d <b> & ]]> \x1b[31mred", 2, 3)
	t.Error("second error")
}

func TestSkip(t *testing.T) { t.Skip("not today") }

func TestTable(t *testing.T) {
	for _, name := range []string{"one", "two words", "a/b", "ü✓🧪", "#", "one"} {
		t.Run(name, func(t *testing.T) {
			if name == "two words" {
				t.Fatal("two is broken")
			}
			if name == "a/b" {
				t.Skip("no slashes")
			}
		})
	}
}

func TestParallel(t *testing.T) {
	for i := 0; i < 3; i++ {
		t.Run(fmt.Sprint(i), func(t *testing.T) { t.Parallel() })
	}
}

func TestOutputWithoutNewline(t *testing.T) { fmt.Fprint(os.Stdout, "no newline") }

func Example() {
	fmt.Println("hello")
	// Output: hello
}

func Example_wrong() {
	fmt.Println("hello")
	// Output: goodbye
}

func FuzzNumber(f *testing.F) {
	f.Add(1)
	f.Fuzz(func(t *testing.T, n int) {})
}
