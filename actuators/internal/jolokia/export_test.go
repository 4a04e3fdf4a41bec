package jolokia

import "time"

// At sets the agent's clock.
func (a *Agent) At(now func() time.Time) { a.now = now }
