package server

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// cgroupLimits are the files that contain the memory limit of the container in bytes, for cgroup v2 and v1.
var cgroupLimits = []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}

// LimitMemory sets the memory limit of the Go runtime to nine tenths of the container's limit.
// It does nothing if GOMEMLIMIT is set, as in the chart, or if the container has no limit.
//
// Near its limit, the Go runtime collects garbage more often. Many large answers at the same time then cost more CPU
// time. Without the limit, the system would kill the process, because the container would run out of memory.
func LimitMemory() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if limit := memoryLimit(cgroupLimits); limit > 0 {
		debug.SetMemoryLimit(limit)
	}
}

// memoryLimit returns nine tenths of the number in the first file
// that can be read. It returns 0 if the file contains no limit.
func memoryLimit(files []string) int64 {
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		bytes, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64)
		if err != nil || bytes > math.MaxInt64/2 { // cgroup v2 writes "max" for no limit; v1 writes a very large number
			return 0
		}
		return bytes / 10 * 9
	}
	return 0
}
