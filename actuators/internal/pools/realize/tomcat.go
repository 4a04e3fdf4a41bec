package realize

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"sluice.dev/actuators/internal/jolokia"
	"sluice.dev/actuators/internal/pools/pool"
)

// TomcatConfig is the `tomcat` block: the threads of a connector, over Jolokia. In Spring Boot the bean exists with
// server.tomcat.mbeanregistry.enabled=true.
type TomcatConfig struct {
	// The bean is the connector's ThreadPool. The domain is Tomcat embedded and in Spring Boot, Catalina standalone.
	jolokia.BeanConfig `yaml:",squash"`
}

// DefaultTomcat has the default values of a block: the only HTTP connector.
func DefaultTomcat() TomcatConfig {
	return TomcatConfig{jolokia.BeanConfig{Config: jolokia.Default(), MBean: `*:type=ThreadPool,name="http*"`}}
}

// Open implements Config.
func (c *TomcatConfig) Open() (Realizer, error) {
	return openBeans(c.Config, func(agent *jolokia.Agent) beanPool { return &tomcat{agent: agent, mbean: c.MBean} })
}

// tomcat is a connector's own thread pool. The executor behind it has a minimum (minSpareThreads) and a maximum (maxThreads),
// and refuses a maximum below the minimum; but maxThreads then reads as if it had been taken. So the minimum is written
// first, a refused maximum is written back, and threads that run beyond maxThreads count.
type tomcat struct {
	agent *jolokia.Agent
	mbean string

	mu sync.Mutex
	// spare is the largest minSpareThreads that was read: it is restored as the pool grows.
	spare int64
}

var (
	threadCounts = []string{"maxThreads", "minSpareThreads", "currentThreadCount"}
	threadsBusy  = []string{"currentThreadsBusy"}
)

// figures has no callers that wait for a thread: they are in the queue of the connector's own executor, which no bean shows.
func (t *tomcat) figures(now map[string]int64) (pool.Size, pool.Use) {
	return inForce(now["maxThreads"], now["currentThreadCount"]), pool.Use{Busy: pool.Count(now["currentThreadsBusy"])}
}

func (t *tomcat) read(ctx context.Context) (mbean string, now map[string]int64, err error) {
	if mbean, err = t.agent.Bean(ctx, t.mbean); err != nil {
		return "", nil, err
	}
	if now, err = t.agent.NumbersAnd(ctx, mbean, threadCounts, threadsBusy); err != nil {
		return "", nil, err
	}
	if now["maxThreads"] < 1 {
		return "", nil, fmt.Errorf("%s: maxThreads %d: want at least 1; a connector with its own executor, or with virtual threads, has none",
			mbean, now["maxThreads"])
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.spare = max(t.spare, now["minSpareThreads"])
	return mbean, now, nil
}

func (t *tomcat) write(ctx context.Context, mbean string, now map[string]int64, size int64) error {
	t.mu.Lock()
	spare := min(t.spare, size)
	t.mu.Unlock()
	before := now["maxThreads"]
	// Below the old maximum and the new one, so that the executor refuses neither of the two writes.
	first := max(1, min(spare, before))
	if err := t.agent.Write(ctx, mbean, "minSpareThreads", first); err != nil {
		return err
	}
	if err := t.agent.Write(ctx, mbean, "maxThreads", size); err != nil {
		return errors.Join(err, t.agent.Write(ctx, mbean, "maxThreads", before))
	}
	if spare > first {
		return t.agent.Write(ctx, mbean, "minSpareThreads", spare)
	}
	return nil
}
