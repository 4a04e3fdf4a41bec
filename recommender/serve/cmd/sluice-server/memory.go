package main

import (
	"fmt"
	"math"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// memoryShare is the part of the container's memory limit that the Go runtime may use; the rest is for what it does not count.
const memoryShare = 0.9

// limitMemory sets the runtime's memory limit from the limit of the process's cgroup, version 1 or 2. GOMEMLIMIT in the environment
// wins. It returns the limit in force, for the log.
func limitMemory() string {
	limit, err := memlimit.Set(memlimit.WithRatio(memoryShare))
	switch {
	case limit < math.MaxInt64:
		return fmt.Sprintf("%d MiB", limit>>20)
	case err != nil:
		return fmt.Sprintf("none: %v", err)
	default:
		return "none"
	}
}
