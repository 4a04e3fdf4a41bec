package spanlimitprocessor

import "fmt"

// Bounds of max_bytes: a tombstone with its resource takes up to 3 kB, and a Kafka record has at most 2 GiB.
const (
	smallestMax = 16 << 10
	largestMax  = 1 << 30
)

// Config of the processor.
type Config struct {
	// MaxBytes is the size of the next exporter's largest request, in bytes of uncompressed protobuf. It must equal that
	// exporter's sending_queue.batch.max_size.
	MaxBytes int `mapstructure:"max_bytes"`
}

// Validate returns an error with the value at fault and the legal values.
func (c *Config) Validate() error {
	if c.MaxBytes < smallestMax || c.MaxBytes > largestMax {
		return fmt.Errorf("max_bytes is %d: it must be set to the exporter's batch.max_size, from %d to %d",
			c.MaxBytes, smallestMax, largestMax)
	}
	return nil
}
