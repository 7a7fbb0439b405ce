package backing

import (
	"fmt"
	"os"
	"strings"
)

// readLogReason returns the line of the log file at `path` that explains why a program failed.
func readLogReason(path string) string {
	log, err := os.ReadFile(path)
	if err != nil {
		return "its log cannot be read: " + err.Error()
	}
	return findReason(string(log)) + " (log: " + path + ")"
}

// findReason returns the last line with an error in the given output. If no line contains an error, it returns the last
// line.
func findReason(output string) string {
	if strings.Contains(output, "No space left on device") {
		return "no space left on the disk" // the later errors are consequences
	}
	lines := strings.Split(strings.TrimSpace(output), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	for i := len(lines) - 1; i >= 0; i-- {
		for _, mark := range []string{"FATAL:", "PANIC:", "initdb: error:", "E: "} {
			if _, text, found := strings.Cut(lines[i], mark); found {
				return strings.TrimSpace(text)
			}
		}
	}
	if last == "" {
		return "it said nothing"
	}
	return fmt.Sprintf("it said %q", last)
}
