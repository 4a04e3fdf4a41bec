package realize

import (
	"context"
	"fmt"

	"sluice.dev/actuators/internal/jolokia"
	"sluice.dev/actuators/internal/pools/pool"
)

// beanPool is a pool that the beans of a JVM show and set.
type beanPool interface {
	// read returns the bean's full name, and its attributes; it refuses values that no pool has.
	read(ctx context.Context) (bean string, now map[string]int64, err error)
	figures(now map[string]int64) (pool.Size, pool.Use)
	// write sets the size of a pool that was read just before.
	write(ctx context.Context, bean string, now map[string]int64, size int64) error
}

// beanRealizer implements Realizer for a pool of beans. A size takes several writes, so one caller
// writes at a time.
type beanRealizer struct {
	agent *jolokia.Agent
	pool  beanPool
}

// openBeans returns the realizer of the pool that the agent of a valid block has.
func openBeans(config jolokia.Config, newPool func(*jolokia.Agent) beanPool) (Realizer, error) {
	agent, err := jolokia.New(config)
	return &beanRealizer{agent, newPool(agent)}, err
}

// Read implements Realizer.
func (r *beanRealizer) Read(ctx context.Context) (pool.Size, pool.Use, error) {
	_, now, err := r.pool.read(ctx)
	if err != nil {
		return pool.Size{}, pool.Use{}, fmt.Errorf("read size: %w", err)
	}
	size, use := r.pool.figures(now)
	return size, use, nil
}

// Write implements Realizer.
func (r *beanRealizer) Write(ctx context.Context, size uint32) error {
	return writing(size, func() error {
		return r.agent.Alone(ctx, func() error {
			bean, now, err := r.pool.read(ctx)
			if err != nil {
				return err
			}
			return r.pool.write(ctx, bean, now, int64(size))
		})
	})
}
