package health

import (
	"fmt"
	"sync/atomic"
	"time"
)

// Loop is a loop of the process. The process is live while the loop turns.
type Loop struct {
	name   string
	limit  time.Duration
	start  time.Time
	turned atomic.Int64 // nanoseconds after start
}

// NewLoop counts as turned. limit is the longest time that a turn may take.
func NewLoop(name string, limit time.Duration) *Loop {
	return &Loop{name: name, limit: limit, start: time.Now()}
}

// Turn marks the begin of a turn. A nil loop has no limit.
func (l *Loop) Turn() {
	if l != nil {
		l.turned.Store(int64(time.Since(l.start)))
	}
}

// Causes has a line once a turn takes longer than the limit.
func (l *Loop) Causes() []string {
	if since := time.Since(l.start) - time.Duration(l.turned.Load()); since > l.limit {
		return []string{fmt.Sprintf("%s: the last turn began %s ago; limit %s", l.name, since.Round(time.Second), l.limit)}
	}
	return nil
}
