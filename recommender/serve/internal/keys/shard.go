package keys

import (
	"fmt"
	"strconv"
	"strings"
)

// Shard is the key of a shard's heartbeat: shard/NUMBER, the number of its partition.
func Shard(number int32) string { return fmt.Sprintf("shard/%d", number) }

// ParseShard is the inverse of Shard. ok is false for another kind of key, such as a pool's.
func ParseShard(record string) (number int32, ok bool, err error) {
	text, ok := strings.CutPrefix(record, "shard/")
	if !ok {
		return 0, false, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 || Shard(int32(n)) != record {
		return 0, true, fmt.Errorf("%q: want shard/NUMBER", record)
	}
	return int32(n), true, nil
}
