package realize

import (
	"context"
	"errors"
	"fmt"

	"sluice.dev/actuators/internal/jolokia"
	"sluice.dev/actuators/internal/pools/pool"
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
	return HikariConfig{Config: jolokia.Default(), Pool: "*"}
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
	return openBeans(c.Config, func(agent *jolokia.Agent) beanPool { return &hikari{agent, *c} })
}

// hikari is two beans: the configuration, and the pool. A smaller MaximumPoolSize closes no connection that is in use or kept
// idle. softEvictConnections closes them, each when it comes back.
type hikari struct {
	agent  *jolokia.Agent
	config HikariConfig
}

const (
	hikariPool     = "com.zaxxer.hikari:type=Pool "
	hikariSettings = "com.zaxxer.hikari:type=PoolConfig "
)

func (h *hikari) figures(now map[string]int64) (pool.Size, pool.Use) {
	use := pool.Use{Busy: pool.Count(now["ActiveConnections"]), Waiting: pool.Count(now["ThreadsAwaitingConnection"])}
	return inForce(now["MaximumPoolSize"], now["TotalConnections"]), use
}

// read adds the configuration's limit to the attributes of the pool's bean.
func (h *hikari) read(ctx context.Context) (bean string, now map[string]int64, err error) {
	if bean, err = h.agent.Bean(ctx, hikariPool+"("+h.config.Pool+")"); err != nil {
		return "", nil, err
	}
	now, err = h.agent.NumbersAnd(ctx, bean, []string{"TotalConnections"}, []string{"ActiveConnections", "ThreadsAwaitingConnection"})
	if err != nil {
		return "", nil, err
	}
	name := bean[len(hikariPool):]
	configured, err := h.agent.Numbers(ctx, hikariSettings+name, "MaximumPoolSize")
	if err != nil {
		return "", nil, err
	}
	limit := configured["MaximumPoolSize"]
	if total := now["TotalConnections"]; limit < 1 || total < 0 {
		return "", nil, fmt.Errorf("%s: MaximumPoolSize %d, TotalConnections %d: want at least 1 and 0", name, limit, total)
	}
	now["MaximumPoolSize"] = limit
	return bean, now, nil
}

func (h *hikari) write(ctx context.Context, bean string, now map[string]int64, size int64) error {
	idle := size
	if h.config.MinimumIdle != nil {
		idle = min(*h.config.MinimumIdle, size)
	}
	type setting struct {
		attribute string
		value     int64
	}
	order := []setting{{"MinimumIdle", idle}, {"MaximumPoolSize", size}} // never more idle connections than the size
	if size > now["MaximumPoolSize"] {
		order[0], order[1] = order[1], order[0]
	}
	for _, setting := range order {
		if err := h.agent.Write(ctx, hikariSettings+bean[len(hikariPool):], setting.attribute, setting.value); err != nil {
			return err
		}
	}
	if now["TotalConnections"] > size {
		return h.agent.Exec(ctx, bean, "softEvictConnections")
	}
	return nil
}
