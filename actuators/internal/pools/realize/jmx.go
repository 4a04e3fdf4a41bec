package realize

import (
	"context"
	"errors"
	"fmt"

	"sluice.dev/actuators/internal/jolokia"
	"sluice.dev/actuators/internal/pools/pool"
)

// JMXConfig is the `jmx` block: any attribute of any bean that is a pool's limit, over Jolokia.
type JMXConfig struct {
	jolokia.BeanConfig `yaml:",squash"`
	// Attribute is the limit, read and written.
	Attribute string `yaml:"attribute"`
	// InForce is an attribute with the current number of threads or connections; without it, only the limit is read.
	InForce string `yaml:"in_force"`
	// Busy and Waiting are attributes with the threads or connections in use, and the callers that wait for one, as
	// activeCount and queueSize of Tomcat's Executor; without them, the figures are absent.
	Busy    string `yaml:"busy"`
	Waiting string `yaml:"waiting"`
	// First are attributes that must not be larger than the limit. They are written before it when it falls, and after it
	// when it rises.
	First []string `yaml:"first"`
	// Operation, without arguments, is called after a smaller size was written; empty: none.
	Operation string `yaml:"operation"`
}

// DefaultJMX has the default values of a block.
func DefaultJMX() JMXConfig {
	return JMXConfig{BeanConfig: jolokia.BeanConfig{Config: jolokia.Default()}}
}

// Validate implements Config.
func (c *JMXConfig) Validate() error {
	err := c.BeanConfig.Validate()
	if c.Attribute == "" {
		err = errors.Join(err, errors.New(`attribute: "": want the attribute of the limit`))
	}
	return err
}

// Open implements Config.
func (c *JMXConfig) Open() (Realizer, error) {
	return openBeans(c.Config, func(agent *jolokia.Agent) beanPool { return &jmx{agent, *c} })
}

type jmx struct {
	agent  *jolokia.Agent
	config JMXConfig
}

func (j *jmx) figures(now map[string]int64) (pool.Size, pool.Use) {
	figure := func(attribute string) *uint32 {
		if attribute == "" {
			return nil
		}
		return pool.Count(now[attribute])
	}
	return inForce(now[j.config.Attribute], now[j.config.InForce]), pool.Use{Busy: figure(j.config.Busy), Waiting: figure(j.config.Waiting)}
}

func (j *jmx) read(ctx context.Context) (mbean string, now map[string]int64, err error) {
	if mbean, err = j.agent.Bean(ctx, j.config.MBean); err != nil {
		return "", nil, err
	}
	attributes := []string{j.config.Attribute}
	for _, more := range []string{j.config.InForce, j.config.Busy, j.config.Waiting} {
		if more != "" {
			attributes = append(attributes, more)
		}
	}
	if now, err = j.agent.Numbers(ctx, mbean, attributes...); err != nil {
		return "", nil, err
	}
	if limit := now[j.config.Attribute]; limit < 1 {
		return "", nil, fmt.Errorf("%s: %s %d: want at least 1", mbean, j.config.Attribute, limit)
	}
	return mbean, now, nil
}

func (j *jmx) write(ctx context.Context, mbean string, now map[string]int64, size int64) error {
	limit := now[j.config.Attribute]
	order := append(append([]string{}, j.config.First...), j.config.Attribute)
	if size > limit {
		order = append([]string{j.config.Attribute}, j.config.First...)
	}
	for _, attribute := range order {
		err := j.agent.Write(ctx, mbean, attribute, size)
		if err != nil && attribute == j.config.Attribute {
			// A bean may keep a refused value: write the old one back, so that the next reading is true.
			err = errors.Join(err, j.agent.Write(ctx, mbean, attribute, limit))
		}
		if err != nil {
			return err
		}
	}
	if j.config.Operation != "" && size < max(limit, now[j.config.InForce]) {
		return j.agent.Exec(ctx, mbean, j.config.Operation)
	}
	return nil
}
