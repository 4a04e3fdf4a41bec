package tune

import (
	"context"
	"fmt"
	"time"

	"sluice.dev/actuators/internal/realize"
)

// Keeper says whether what a key names is this process's to write; *holds.Keeper is one.
type Keeper interface {
	// ClaimKey is nil while it is. The error says whose it is, or why that is not known.
	ClaimKey(ctx context.Context, name, key string) error
}

// own waits until every parameter that other hosts reach is this process's to write: for one that was killed, or gives it up,
// and for a recommender that is away, twice as long as a hold lasts. Error: somebody else has one, such as an actuator that
// opted in to the pool.
func (r *Run) own(ctx context.Context) error {
	if r.Keeper == nil {
		return nil
	}
	end := time.Now().Add(2 * r.Config.Hold)
	said := ""
	for _, name := range r.Target.Names() {
		key := r.Target.key(name, r.Host)
		for key != "" {
			err := r.Keeper.ClaimKey(ctx, name, key)
			if err == nil {
				break
			}
			if ctx.Err() != nil || time.Now().After(end) {
				return fmt.Errorf("%s: %w", name, err)
			}
			if text := err.Error(); text != said {
				r.say("%s: %s; waiting", name, text)
				said = text
			}
			if err := sleep(ctx, again); err != nil {
				return err
			}
		}
	}
	return nil
}

// key is what a parameter's value is written to; empty where other hosts do not reach it.
func (t *Target) key(name, host string) string {
	if reached, ok := t.settings[name].(realize.Reached); ok {
		return reached.Key(host)
	}
	return ""
}
