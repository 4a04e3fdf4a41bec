package realize

import (
	"context"
	"errors"
	"fmt"

	"sluice.dev/actuators/internal/web"
)

// JMXSetting is the `jmx` block of a parameter: any attribute of any bean, over Jolokia.
type JMXSetting struct {
	JolokiaConfig `yaml:",squash"`
	MBean         string `yaml:"mbean"`
	Attribute     string `yaml:"attribute"`
}

// DefaultJMXSetting has the default values of a block.
func DefaultJMXSetting() JMXSetting {
	return JMXSetting{JolokiaConfig: JolokiaConfig{Config: web.Default()}}
}

// Variables implements SettingConfig.
func (c *JMXSetting) Variables(fill func(text *string, key string)) {
	c.JolokiaConfig.Variables(fill)
	fill(&c.MBean, "mbean")
}

// Validate implements SettingConfig.
func (c *JMXSetting) Validate() error {
	err := errors.Join(c.JolokiaConfig.Validate(), checkMBean(c.MBean))
	if c.Attribute == "" {
		err = errors.Join(err, errors.New(`attribute: "": want the attribute to read and write`))
	}
	return err
}

// Setting implements SettingConfig.
func (c *JMXSetting) Setting() (Setting, error) {
	agent, err := newJolokia(c.JolokiaConfig)
	return &jmxSetting{agent, *c}, err
}

type jmxSetting struct {
	agent  *jolokia
	config JMXSetting
}

// Read implements Setting.
func (s *jmxSetting) Read(ctx context.Context) (string, error) {
	mbean, err := s.agent.bean(ctx, s.config.MBean)
	if err != nil {
		return "", err
	}
	value, err := s.agent.ask(ctx, jolokiaRequest{Type: "read", MBean: mbean, Attribute: []string{s.config.Attribute}})
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
func (s *jmxSetting) Write(ctx context.Context, value string) error {
	return s.agent.alone(ctx, func() error {
		mbean, err := s.agent.bean(ctx, s.config.MBean)
		if err != nil {
			return err
		}
		request := jolokiaRequest{Type: "write", MBean: mbean, Attribute: s.config.Attribute, Value: typed(value)}
		if _, err := s.agent.ask(ctx, request); err != nil {
			return fmt.Errorf("%s = %s: %w", s.config.Attribute, value, err)
		}
		return nil
	})
}
