package settings

import (
	"context"
	"errors"
	"fmt"

	"sluice.dev/actuators/internal/jolokia"
)

// JMX is the `jmx` block of a parameter: any attribute of any bean, over Jolokia.
type JMX struct {
	jolokia.BeanConfig `yaml:",squash"`
	Attribute          string `yaml:"attribute"`
}

// DefaultJMX has the default values of a block.
func DefaultJMX() JMX {
	return JMX{BeanConfig: jolokia.BeanConfig{Config: jolokia.Default()}}
}

// Validate implements Config.
func (c *JMX) Validate() error {
	err := c.BeanConfig.Validate()
	if c.Attribute == "" {
		err = errors.Join(err, errors.New(`attribute: "": want the attribute to read and write`))
	}
	return err
}

// Setting implements Config.
func (c *JMX) Setting() (Setting, error) {
	agent, err := jolokia.New(c.Config)
	return &jmx{agent, *c}, err
}

type jmx struct {
	agent  *jolokia.Agent
	config JMX
}

// Read implements Setting.
func (s *jmx) Read(ctx context.Context) (string, error) {
	mbean, err := s.agent.Bean(ctx, s.config.MBean)
	if err != nil {
		return "", err
	}
	value, err := s.agent.Call(ctx, jolokia.Request{Type: "read", MBean: mbean, Attribute: []string{s.config.Attribute}})
	if err != nil {
		return "", err
	}
	values, _ := value.(map[string]any)
	text, err := scalar(values[s.config.Attribute])
	if err != nil {
		return "", fmt.Errorf("%s: %s: %w", mbean, s.config.Attribute, err)
	}
	return text, nil
}

// Write implements Setting.
func (s *jmx) Write(ctx context.Context, value string) error {
	return s.agent.Alone(ctx, func() error {
		mbean, err := s.agent.Bean(ctx, s.config.MBean)
		if err != nil {
			return err
		}
		request := jolokia.Request{Type: "write", MBean: mbean, Attribute: s.config.Attribute, Value: typed(value)}
		if _, err := s.agent.Call(ctx, request); err != nil {
			return fmt.Errorf("%s = %s: %w", s.config.Attribute, value, err)
		}
		return nil
	})
}
