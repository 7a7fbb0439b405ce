package server

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// cgroupLimits are the files with the memory limit of a container in bytes: cgroup v2, then v1.
var cgroupLimits = []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}

// LimitMemory sets Go's memory limit to nine tenths of the container's limit. It does
// nothing if GOMEMLIMIT is set, as in the chart, or if the container has no limit.
//
// Near the limit, the garbage collector runs more often. A
// burst of large answers then costs CPU instead of an OOM kill.
func LimitMemory() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if limit := memoryLimit(cgroupLimits); limit > 0 {
		debug.SetMemoryLimit(limit)
	}
}

// memoryLimit returns nine tenths of the number in the first readable file; 0 if the file holds no number of bytes.
func memoryLimit(files []string) int64 {
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		bytes, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64)
		if err != nil || bytes > math.MaxInt64/2 { // "max", or the number that means no limit in v1
			return 0
		}
		return bytes / 10 * 9
	}
	return 0
}
