// Command list prints the descriptor of each metric of the actuator, a line each. docs/generate/metrics.py reads it.
package main

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"sluice.dev/actuators/internal/status"
)

func main() {
	board := status.NewBoard(status.Process{}, nil, nil, nil, nil)
	descriptors := make(chan *prometheus.Desc)
	go func() {
		board.Describe(descriptors)
		close(descriptors)
	}()
	for descriptor := range descriptors {
		fmt.Println(descriptor)
	}
}
