package realize

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"sluice.dev/actuators/internal/web"
)

// JolokiaConfig has the keys of every kind that uses Jolokia: the agent, or Spring Boot's /actuator/jolokia.
type JolokiaConfig struct {
	web.Config `yaml:",squash"`
	// URL is where the agent takes POST requests, such as http://127.0.0.1:8778/jolokia/.
	URL string `yaml:"url"`
}

// Variables implements Config.
func (c *JolokiaConfig) Variables(fill func(text *string, key string)) {
	c.Config.Variables(fill)
	fill(&c.URL, "url")
}

// Validate implements Config.
func (c *JolokiaConfig) Validate() error {
	err := c.Config.Validate()
	if urlErr := web.CheckURL(c.URL); urlErr != nil {
		err = errors.Join(err, fmt.Errorf("url: %w", urlErr))
	}
	return err
}

// checkMBean wants DOMAIN:KEY=VALUE,...
func checkMBean(name string) error {
	domain, keys, found := strings.Cut(name, ":")
	if !found || domain == "" || !strings.Contains(keys, "=") {
		return fmt.Errorf("mbean: %q: want DOMAIN:KEY=VALUE,..., where * stands for any text", name)
	}
	return nil
}

// jolokia is one agent. It responds with HTTP 200 also when it refuses: the status in the body means success.
type jolokia struct {
	url    string
	client *web.Client
	turn   chan struct{}
}

func newJolokia(c JolokiaConfig) (*jolokia, error) {
	client, err := web.NewClient(c.Config, c.URL)
	if err != nil {
		return nil, err
	}
	return &jolokia{c.URL, client, make(chan struct{}, 1)}, nil
}

// alone runs do while no other do of alone runs: setting a size takes several writes, whose order counts.
func (j *jolokia) alone(ctx context.Context, do func() error) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case j.turn <- struct{}{}:
		defer func() { <-j.turn }()
		return do()
	}
}

type jolokiaRequest struct {
	Type      string            `json:"type"`
	MBean     string            `json:"mbean"`
	Attribute any               `json:"attribute,omitempty"`
	Value     any               `json:"value,omitempty"`
	Operation string            `json:"operation,omitempty"`
	Config    map[string]string `json:"config"`
}

type jolokiaAnswer struct {
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

// ask returns the response's value where the body's status is 200.
func (j *jolokia) ask(ctx context.Context, request jolokiaRequest) (any, error) {
	request.Config = map[string]string{"includeStackTrace": "false"} // it may be longer than the limit of a response
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	text, err := j.client.Do(ctx, web.Request{Method: http.MethodPost, URL: j.url, Body: string(body)}, http.StatusOK)
	if err != nil {
		return nil, err
	}
	var answer jolokiaAnswer
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	if err := decoder.Decode(&answer); err != nil {
		return nil, j.client.Hide(fmt.Errorf("%s %s: the response is not Jolokia's: %s", request.Type, request.MBean, web.Excerpt(text)))
	}
	if answer.Status != http.StatusOK {
		var cause error
		if answer.Status == http.StatusNotFound {
			cause = errNotThere
		}
		return nil, j.client.Hide(refusal{fmt.Sprintf("%s %s: status %d in the response, want 200: %s",
			request.Type, request.MBean, answer.Status, web.Excerpt([]byte(answer.Error))), cause})
	}
	return answer.Value, nil
}

// numbers reads attributes of one bean at one time. An attribute that is not a whole number is an error.
func (j *jolokia) numbers(ctx context.Context, mbean string, attributes ...string) (map[string]int64, error) {
	value, err := j.ask(ctx, jolokiaRequest{Type: "read", MBean: mbean, Attribute: attributes})
	if err != nil {
		return nil, err
	}
	values, _ := value.(map[string]any)
	numbers := map[string]int64{}
	for _, attribute := range attributes {
		number, err := wholeNumber(values[attribute], -1<<31)
		if err != nil {
			return nil, fmt.Errorf("read %s: %s: %w", mbean, attribute, err)
		}
		numbers[attribute] = number
	}
	return numbers, nil
}

// numbersAnd reads as numbers does, together with the attributes `more`. Where the bean's version lacks these, it returns
// only the others.
func (j *jolokia) numbersAnd(ctx context.Context, mbean string, attributes, more []string) (map[string]int64, error) {
	numbers, err := j.numbers(ctx, mbean, slices.Concat(attributes, more)...)
	if !errors.Is(err, errNotThere) {
		return numbers, err
	}
	numbers, err = j.numbers(ctx, mbean, attributes...)
	for _, each := range more {
		if err == nil {
			numbers[each] = -1
		}
	}
	return numbers, err
}

func (j *jolokia) write(ctx context.Context, mbean, attribute string, value int64) error {
	_, err := j.ask(ctx, jolokiaRequest{Type: "write", MBean: mbean, Attribute: attribute, Value: value})
	if err != nil {
		return fmt.Errorf("%s = %d: %w", attribute, value, err)
	}
	return nil
}

func (j *jolokia) exec(ctx context.Context, mbean, operation string) error {
	_, err := j.ask(ctx, jolokiaRequest{Type: "exec", MBean: mbean, Operation: operation})
	return err
}

// bean returns the one bean that pattern names. A pattern without a * is the name itself.
func (j *jolokia) bean(ctx context.Context, pattern string) (string, error) {
	if !strings.Contains(pattern, "*") {
		return pattern, nil
	}
	value, err := j.ask(ctx, jolokiaRequest{Type: "search", MBean: pattern})
	if err != nil {
		return "", err
	}
	found, _ := value.([]any)
	if len(found) != 1 {
		return "", fmt.Errorf("search %s: %d beans %v: want one: name it", pattern, len(found), found)
	}
	name, ok := found[0].(string)
	if !ok {
		return "", fmt.Errorf("search %s: %v: want a name", pattern, found[0])
	}
	return name, nil
}
