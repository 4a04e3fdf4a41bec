package realize

import (
	"context"
	"errors"
	"fmt"

	"sluice.dev/actuators/internal/jolokia"
	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/web"
)

// HikariConfig is the `hikari` block: the connections of one HikariCP, over Jolokia. The beans exist with registerMbeans=true
// (Spring Boot: spring.datasource.hikari.register-mbeans).
type HikariConfig struct {
	jolokia.Config `yaml:",squash"`
	// Pool is the poolName; * is the only pool.
	Pool string `yaml:"pool"`
	// MinimumIdle bounds the idle connections that are kept; by default the pool's size, so that the pool has a fixed size.
	MinimumIdle *int64 `yaml:"minimum_idle"`
}

// DefaultHikari has the default values of a block.
func DefaultHikari() HikariConfig {
	return HikariConfig{Config: jolokia.Config{Config: web.Default()}, Pool: "*"}
}

// Variables implements Config.
func (c *HikariConfig) Variables(fill func(text *string, key string)) {
	c.Config.Variables(fill)
	fill(&c.Pool, "pool")
}

// Validate implements Config.
func (c *HikariConfig) Validate() error {
	err := c.Config.Validate()
	if c.Pool == "" {
		err = errors.Join(err, errors.New(`pool: "": want the poolName, or * for the only pool`))
	}
	if c.MinimumIdle != nil && *c.MinimumIdle < 0 {
		err = errors.Join(err, fmt.Errorf("minimum_idle: %d: want 0 or more", *c.MinimumIdle))
	}
	return err
}

// Open implements Config.
func (c *HikariConfig) Open() (Realizer, error) {
	agent, err := jolokia.New(c.Config)
	return &hikari{agent, *c}, err
}

// hikari is two beans: the configuration, and the pool. A smaller MaximumPoolSize closes no connection that is in use or kept
// idle. softEvictConnections closes them, each when it comes back.
type hikari struct {
	agent  *jolokia.Agent
	config HikariConfig
}

// Read implements Realizer.
func (h *hikari) Read(ctx context.Context) (pool.Size, pool.Use, error) {
	_, limit, there, err := h.read(ctx)
	if err != nil {
		return pool.Size{}, pool.Use{}, fmt.Errorf("read size: %w", err)
	}
	use := pool.Use{Busy: pool.Count(there["ActiveConnections"]), Waiting: pool.Count(there["ThreadsAwaitingConnection"])}
	return inForce(limit, there["TotalConnections"]), use, nil
}

// read returns the pool's name as its beans have it, its limit and its connections.
func (h *hikari) read(ctx context.Context) (name string, limit int64, there map[string]int64, err error) {
	const prefix = "com.zaxxer.hikari:type=Pool "
	bean, err := h.agent.Bean(ctx, prefix+"("+h.config.Pool+")")
	if err != nil {
		return "", 0, nil, err
	}
	name = bean[len(prefix):]
	there, err = h.agent.NumbersAnd(ctx, bean, []string{"TotalConnections"}, []string{"ActiveConnections", "ThreadsAwaitingConnection"})
	if err != nil {
		return "", 0, nil, err
	}
	configured, err := h.agent.Numbers(ctx, hikariSettings(name), "MaximumPoolSize")
	if err != nil {
		return "", 0, nil, err
	}
	limit = configured["MaximumPoolSize"]
	if total := there["TotalConnections"]; limit < 1 || total < 0 {
		return "", 0, nil, fmt.Errorf("%s: MaximumPoolSize %d, TotalConnections %d: want at least 1 and 0", name, limit, total)
	}
	return name, limit, there, nil
}

func hikariSettings(name string) string { return "com.zaxxer.hikari:type=PoolConfig " + name }

// Write implements Realizer.
func (h *hikari) Write(ctx context.Context, size uint32) error {
	return writing(size, func() error {
		return h.agent.Alone(ctx, func() error {
			name, limit, there, err := h.read(ctx)
			if err != nil {
				return err
			}
			return h.write(ctx, name, int64(size), limit, there["TotalConnections"])
		})
	})
}

func (h *hikari) write(ctx context.Context, name string, size, limit, total int64) error {
	idle := size
	if h.config.MinimumIdle != nil {
		idle = min(*h.config.MinimumIdle, size)
	}
	type setting struct {
		attribute string
		value     int64
	}
	order := []setting{{"MinimumIdle", idle}, {"MaximumPoolSize", size}} // never more idle connections than the size
	if size > limit {
		order[0], order[1] = order[1], order[0]
	}
	for _, setting := range order {
		if err := h.agent.Write(ctx, hikariSettings(name), setting.attribute, setting.value); err != nil {
			return err
		}
	}
	if total > size {
		return h.agent.Exec(ctx, "com.zaxxer.hikari:type=Pool "+name, "softEvictConnections")
	}
	return nil
}
