// Package trials sets the trials of a tuning session, and reports the time from which each is in force.
package trials

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"sluice.dev/actuators/internal/config"
	"sluice.dev/actuators/internal/program"
	"sluice.dev/actuators/internal/reconcile"
	"sluice.dev/actuators/internal/trials/settings"
	tuningv1 "sluice.dev/api/tuning/v1"
)

// Values are values of parameters, by name, in the session's form.
type Values map[string]string

// Target is an application whose parameters are read and set.
type Target struct {
	config     *config.Tune
	places     map[string]settings.Setting
	parameters map[string]*config.Parameter
}

// Open opens every parameter.
func Open(c *config.Tune) (*Target, error) {
	t := &Target{c, map[string]settings.Setting{}, map[string]*config.Parameter{}}
	for i := range c.Parameters {
		p := &c.Parameters[i]
		setting, err := p.Block.Setting()
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", p.Name, err)
		}
		t.places[p.Name], t.parameters[p.Name] = setting, p
	}
	return t, nil
}

// Names returns the names of the parameters, in the order of the file.
func (t *Target) Names() (names []string) {
	for _, p := range t.config.Parameters {
		names = append(names, p.Name)
	}
	return names
}

// Read returns the values in force.
func (t *Target) Read(ctx context.Context) (Values, error) {
	now := Values{}
	for _, name := range t.Names() {
		word, err := t.places[name].Read(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		now[name] = t.parameters[name].Value(word)
	}
	return now, nil
}

// Set writes those of the values that are not in force, runs the reloads that they need, and reads them back until they are
// in force. After an error some may be set, and some not.
func (t *Target) Set(ctx context.Context, values Values) error {
	now, err := t.Read(ctx)
	if err != nil {
		return err
	}
	var reloads []string
	for _, name := range differing(t.Names(), now, values) {
		p := t.parameters[name]
		if err := t.places[name].Write(ctx, p.Word(values[name])); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if p.Reload != "" && !slices.Contains(reloads, p.Reload) {
			reloads = append(reloads, p.Reload)
		}
	}
	for _, r := range t.config.Reloads {
		if slices.Contains(reloads, r.Name) {
			if err := program.RunDetached(ctx, r.Timeout, r.Command); err != nil {
				return fmt.Errorf("reload %s: %w", r.Name, err)
			}
		}
	}
	return t.settled(ctx, values)
}

// settled waits until the values read are those written.
func (t *Target) settled(ctx context.Context, values Values) error {
	now, err := reconcile.Write[Values]{
		Read: t.Read, Settle: t.config.Settle,
		Reached: func(now Values) bool { return mismatch(now, values) == nil },
	}.ReadBack(ctx)
	if err == nil {
		err = mismatch(now, values)
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		return fmt.Errorf("read back after %s: %w", t.config.Settle, err)
	}
}

// ValuesOf returns the values of a configuration.
func ValuesOf(c *tuningv1.Configuration) Values {
	values := Values{}
	for _, setting := range c.GetSettings() {
		values[setting.GetParameter()] = text(setting.GetValue())
	}
	return values
}

func text(value *tuningv1.Value) string {
	switch kind := value.GetKind().(type) {
	case *tuningv1.Value_Integer:
		return strconv.FormatInt(kind.Integer, 10)
	case *tuningv1.Value_Number:
		return strconv.FormatFloat(kind.Number, 'g', -1, 64)
	case *tuningv1.Value_Flag:
		return strconv.FormatBool(kind.Flag)
	}
	return value.GetChoice()
}
