// Package trials sets the trials of a tuning session, and reports since when each is in force.
package trials

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sluice.dev/actuators/internal/config"
	"sluice.dev/actuators/internal/pools/realize"
	"sluice.dev/actuators/internal/reconcile"

	tuningv1 "sluice.dev/api/tuning/v1"
)

// Values are values of parameters, by name, in the session's form.
type Values map[string]string

// Target is an application whose parameters are read and set.
type Target struct {
	config   *config.Tune
	settings map[string]realize.Setting
	words    map[string]*config.Parameter
}

// Open opens every parameter.
func Open(c *config.Tune) (*Target, error) {
	t := &Target{c, map[string]realize.Setting{}, map[string]*config.Parameter{}}
	for i := range c.Parameters {
		p := &c.Parameters[i]
		setting, err := p.Block.Setting()
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", p.Name, err)
		}
		t.settings[p.Name], t.words[p.Name] = setting, p
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
		word, err := t.settings[name].Read(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		now[name] = t.words[name].Value(word)
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
	for _, name := range t.Names() {
		value, wanted := values[name]
		if !wanted || same(now[name], value) {
			continue
		}
		p := t.words[name]
		if err := t.settings[name].Write(ctx, p.Word(value)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if p.Reload != "" && !slices.Contains(reloads, p.Reload) {
			reloads = append(reloads, p.Reload)
		}
	}
	for _, r := range t.config.Reloads {
		if slices.Contains(reloads, r.Name) {
			if err := run(ctx, r); err != nil {
				return err
			}
		}
	}
	return t.settled(ctx, values)
}

// settled waits until the values read are those written.
func (t *Target) settled(ctx context.Context, values Values) (err error) {
	reconcile.Until(ctx, t.config.Settle, func() bool {
		var now Values
		if now, err = t.Read(ctx); err == nil {
			err = differ(now, values)
		}
		return err == nil
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		return fmt.Errorf("read back after %s: %w", t.config.Settle, err)
	}
}

func differ(now, values Values) error {
	var faults []string
	for name, value := range values {
		if got, known := now[name]; known && !same(got, value) {
			faults = append(faults, fmt.Sprintf("%s is %s, want %s", name, got, value))
		}
	}
	if len(faults) == 0 {
		return nil
	}
	slices.Sort(faults)
	return errors.New(strings.Join(faults, "; "))
}

// same compares numbers by their value, to a part in a million, because programs round them; other values as text.
func same(a, b string) bool {
	if a == b {
		return true
	}
	x, xErr := strconv.ParseFloat(a, 64)
	y, yErr := strconv.ParseFloat(b, 64)
	if xErr != nil || yErr != nil {
		return false
	}
	return max(x-y, y-x) <= 1e-6*max(x, -x, y, -y)
}

// run runs a reload. After the timeout it ends the command and the processes that the command started.
func run(ctx context.Context, r config.Reload) error {
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	command := exec.CommandContext(ctx, r.Command[0], r.Command[1:]...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = 100 * time.Millisecond
	// A file, not a pipe: a process that outlives the command may hold it open.
	out, err := os.CreateTemp("", "sluice-reload-*")
	if err != nil {
		return fmt.Errorf("reload %s: %w", r.Name, err)
	}
	defer os.Remove(out.Name())
	defer out.Close()
	command.Stdout, command.Stderr = out, out
	if err := command.Run(); err != nil {
		text, _ := os.ReadFile(out.Name())
		return fmt.Errorf("reload %s: %w: %s", r.Name, errors.Join(err, ctx.Err()), strings.TrimSpace(string(text[:min(len(text), 300)])))
	}
	return nil
}

// ValuesOf returns the values of a configuration.
func ValuesOf(c *tuningv1.Configuration) Values {
	values := Values{}
	for _, each := range c.GetSettings() {
		values[each.GetParameter()] = text(each.GetValue())
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
