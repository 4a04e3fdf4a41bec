package realize

import (
	"context"
	"errors"
	"fmt"

	"sluice.dev/actuators/internal/jolokia"
	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/web"
)

// JMXConfig is the `jmx` block: any attribute of any bean that is a pool's limit, over Jolokia.
type JMXConfig struct {
	jolokia.Config `yaml:",squash"`
	MBean          string `yaml:"mbean"`
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
func DefaultJMX() JMXConfig { return JMXConfig{Config: jolokia.Config{Config: web.Default()}} }

// Variables implements Config.
func (c *JMXConfig) Variables(fill func(text *string, key string)) {
	c.Config.Variables(fill)
	fill(&c.MBean, "mbean")
}

// Validate implements Config.
func (c *JMXConfig) Validate() error {
	err := errors.Join(c.Config.Validate(), jolokia.CheckMBean(c.MBean))
	if c.Attribute == "" {
		err = errors.Join(err, errors.New(`attribute: "": want the attribute of the limit`))
	}
	return err
}

// Open implements Config.
func (c *JMXConfig) Open() (Realizer, error) {
	agent, err := jolokia.New(c.Config)
	return &jmx{agent, *c}, err
}

type jmx struct {
	agent  *jolokia.Agent
	config JMXConfig
}

// Read implements Realizer.
func (j *jmx) Read(ctx context.Context) (pool.Size, pool.Use, error) {
	_, now, err := j.read(ctx)
	if err != nil {
		return pool.Size{}, pool.Use{}, fmt.Errorf("read size: %w", err)
	}
	figure := func(attribute string) *uint32 {
		if attribute == "" {
			return nil
		}
		return pool.Count(now[attribute])
	}
	return inForce(now[j.config.Attribute], now[j.config.InForce]), pool.Use{Busy: figure(j.config.Busy), Waiting: figure(j.config.Waiting)}, nil
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

// Write implements Realizer.
func (j *jmx) Write(ctx context.Context, size uint32) error {
	return writing(size, func() error {
		return j.agent.Alone(ctx, func() error {
			mbean, now, err := j.read(ctx)
			if err != nil {
				return err
			}
			return j.write(ctx, mbean, int64(size), now[j.config.Attribute], now[j.config.InForce])
		})
	})
}

func (j *jmx) write(ctx context.Context, mbean string, size, limit, there int64) error {
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
	if j.config.Operation != "" && size < max(limit, there) {
		return j.agent.Exec(ctx, mbean, j.config.Operation)
	}
	return nil
}
