// Package jolokia reads and writes the attributes of a JVM's beans over Jolokia.
package jolokia

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"sluice.dev/actuators/internal/web"
)

// Config has the keys of every kind that uses Jolokia: the agent, or Spring Boot's /actuator/jolokia.
type Config struct {
	web.Config `yaml:",squash"`
	// URL is where the agent takes POST requests, such as http://127.0.0.1:8778/jolokia/.
	URL string `yaml:"url"`
}

// Variables implements Config.
func (c *Config) Variables(fill func(text *string, key string)) {
	c.Config.Variables(fill)
	fill(&c.URL, "url")
}

// Default has the default values of a block.
func Default() Config { return Config{Config: web.Default()} }

// Validate implements Config.
func (c *Config) Validate() error {
	err := c.Config.Validate()
	if urlErr := web.CheckURL(c.URL); urlErr != nil {
		err = errors.Join(err, fmt.Errorf("url: %w", urlErr))
	}
	return err
}

// BeanConfig has the keys of every kind that names a bean.
type BeanConfig struct {
	Config `yaml:",squash"`
	// MBean is the bean's name, DOMAIN:KEY=VALUE,..., where * stands for any text.
	MBean string `yaml:"mbean"`
}

// Variables implements Config.
func (c *BeanConfig) Variables(fill func(text *string, key string)) {
	c.Config.Variables(fill)
	fill(&c.MBean, "mbean")
}

// Validate implements Config.
func (c *BeanConfig) Validate() error {
	err := c.Config.Validate()
	if domain, keys, complete := strings.Cut(c.MBean, ":"); !complete || domain == "" || !strings.Contains(keys, "=") {
		err = errors.Join(err, fmt.Errorf("mbean: %q: want DOMAIN:KEY=VALUE,..., where * stands for any text", c.MBean))
	}
	return err
}

// remembered is how long a pattern means the bean that it led to. An actuator reads each second, and each request is one more
// in the metrics of the application.
const remembered = 30 * time.Second

// Agent is one Jolokia agent. It responds with HTTP 200 also when it refuses: the status in the body means success.
type Agent struct {
	url    string
	client *web.Client
	turn   *semaphore.Weighted
	now    func() time.Time

	mu sync.Mutex
	// beans has the beans that patterns led to.
	beans map[string]foundBean
}

type foundBean struct {
	name  string
	until time.Time
}

// New returns the agent that a valid block describes.
func New(c Config) (*Agent, error) {
	client, err := web.NewClient(c.Config, c.URL)
	if err != nil {
		return nil, err
	}
	return &Agent{url: c.URL, client: client, turn: semaphore.NewWeighted(1), now: time.Now, beans: map[string]foundBean{}}, nil
}

// Alone runs do while no other do of Alone runs: setting a size takes several writes, whose order counts.
func (a *Agent) Alone(ctx context.Context, do func() error) error {
	if err := a.turn.Acquire(ctx, 1); err != nil {
		return err
	}
	defer a.turn.Release(1)
	return do()
}

// Request is one request to the agent.
type Request struct {
	Type      string            `json:"type"`
	MBean     string            `json:"mbean"`
	Attribute any               `json:"attribute,omitempty"`
	Value     any               `json:"value,omitempty"`
	Operation string            `json:"operation,omitempty"`
	Config    map[string]string `json:"config"`
}

type response struct {
	Status int    `json:"status"`
	Error  string `json:"error"`
	Value  any    `json:"value"`
}

// errNotThere: the agent has no such bean, or the bean no such attribute.
var errNotThere = errors.New("not there")

// refusal is the agent's text of a refusal.
type refusal struct {
	text  string
	cause error
}

func (r refusal) Error() string { return r.text }
func (r refusal) Unwrap() error { return r.cause }

// Call returns the response's value where the body's status is 200.
func (a *Agent) Call(ctx context.Context, request Request) (any, error) {
	request.Config = map[string]string{"includeStackTrace": "false"} // it may be longer than the limit of a response
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	text, err := a.client.Do(ctx, web.Request{Method: http.MethodPost, URL: a.url, Body: string(body)}, http.StatusOK)
	if err != nil {
		return nil, err
	}
	var answer response
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	if err := decoder.Decode(&answer); err != nil {
		return nil, a.client.Hide(fmt.Errorf("%s %s: the response is not Jolokia's: %s", request.Type, request.MBean, web.Excerpt(text)))
	}
	if answer.Status != http.StatusOK {
		var cause error
		if answer.Status == http.StatusNotFound {
			cause = errNotThere
			a.forget()
		}
		return nil, a.client.Hide(refusal{fmt.Sprintf("%s %s: status %d in the response, want 200: %s",
			request.Type, request.MBean, answer.Status, web.Excerpt([]byte(answer.Error))), cause})
	}
	return answer.Value, nil
}

// Numbers reads attributes of one bean at one time. An attribute that is not a whole number is an error.
func (a *Agent) Numbers(ctx context.Context, mbean string, attributes ...string) (map[string]int64, error) {
	value, err := a.Call(ctx, Request{Type: "read", MBean: mbean, Attribute: attributes})
	if err != nil {
		return nil, err
	}
	values, _ := value.(map[string]any)
	numbers := map[string]int64{}
	for _, attribute := range attributes {
		number, err := web.WholeNumber(values[attribute], -1<<31)
		if err != nil {
			return nil, fmt.Errorf("read %s: %s: %w", mbean, attribute, err)
		}
		numbers[attribute] = number
	}
	return numbers, nil
}

// NumbersAnd reads as Numbers does, together with the attributes `more`. Where the bean's version lacks these, it returns
// only the others.
func (a *Agent) NumbersAnd(ctx context.Context, mbean string, attributes, more []string) (map[string]int64, error) {
	numbers, err := a.Numbers(ctx, mbean, slices.Concat(attributes, more)...)
	if !errors.Is(err, errNotThere) {
		return numbers, err
	}
	numbers, err = a.Numbers(ctx, mbean, attributes...)
	for _, attribute := range more {
		if err == nil {
			numbers[attribute] = -1
		}
	}
	return numbers, err
}

// Write writes a number to an attribute.
func (a *Agent) Write(ctx context.Context, mbean, attribute string, value int64) error {
	_, err := a.Call(ctx, Request{Type: "write", MBean: mbean, Attribute: attribute, Value: value})
	if err != nil {
		return fmt.Errorf("%s = %d: %w", attribute, value, err)
	}
	return nil
}

// Exec calls an operation without arguments.
func (a *Agent) Exec(ctx context.Context, mbean, operation string) error {
	_, err := a.Call(ctx, Request{Type: "exec", MBean: mbean, Operation: operation})
	return err
}

// Bean returns the one bean that pattern names. A pattern without a * is the name itself. It searches at most each 30 s, and
// again after a bean was not there.
func (a *Agent) Bean(ctx context.Context, pattern string) (string, error) {
	if !strings.Contains(pattern, "*") {
		return pattern, nil
	}
	if name, ok := a.recall(pattern); ok {
		return name, nil
	}
	name, err := a.search(ctx, pattern)
	if err == nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.beans[pattern] = foundBean{name, a.now().Add(remembered)}
	}
	return name, err
}

func (a *Agent) recall(pattern string) (string, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	bean, ok := a.beans[pattern]
	return bean.name, ok && a.now().Before(bean.until)
}

func (a *Agent) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.beans)
}

func (a *Agent) search(ctx context.Context, pattern string) (string, error) {
	value, err := a.Call(ctx, Request{Type: "search", MBean: pattern})
	if err != nil {
		return "", err
	}
	names, _ := value.([]any)
	if len(names) != 1 {
		return "", fmt.Errorf("search %s: %d beans %v: want one: name it", pattern, len(names), names)
	}
	name, ok := names[0].(string)
	if !ok {
		return "", fmt.Errorf("search %s: %v: want a name", pattern, names[0])
	}
	return name, nil
}
