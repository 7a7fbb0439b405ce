package server

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// cgroupLimits are where the kernel says how much memory a container may take, in bytes: cgroup v2, then v1.
var cgroupLimits = []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}

// LimitMemory lets Go's garbage collector work harder as the process comes near nine tenths of what its container may
// take, so that a burst of large answers ends in work and not in the kernel's kill. It does nothing where GOMEMLIMIT is
// set, as the chart does, or where there is no limit.
func LimitMemory() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if limit := memoryLimit(cgroupLimits); limit > 0 {
		debug.SetMemoryLimit(limit)
	}
}

// memoryLimit is nine tenths of what the first of the files that can be read says; 0 where none says a number of bytes.
func memoryLimit(files []string) int64 {
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		bytes, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64)
		if err != nil || bytes > math.MaxInt64/2 { // "max", or v1's number for none
			return 0
		}
		return bytes / 10 * 9
	}
	return 0
}
