package config

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice.dev/actuators/internal/block"
	"sluice.dev/actuators/internal/trials/settings"
)

// Tune is the file of `sluice-actuator tune`: how each parameter of an application is read and set.
type Tune struct {
	// Recommender is HOST:PORT.
	Recommender string `yaml:"recommender"`
	// Target is the application; a session of another application is refused.
	Target string `yaml:"target"`
	// Settle is how long a value may take until it is read back.
	Settle time.Duration `yaml:"settle"`
	// State is a folder that outlives the process and keeps the values from before the first trial. Without it, a process
	// that is killed leaves its trial in force.
	State      string      `yaml:"state"`
	Parameters []Parameter `yaml:"parameters"`
	Reloads    []Reload    `yaml:"reloads"`
}

// Parameter is a parameter of the session, with its name there.
type Parameter struct {
	Name string `yaml:"name"`
	// Values map the session's values to the program's, where they differ: {"true": "on", "false": "off"}.
	Values map[string]string `yaml:"values"`
	// Unit is the suffix of the value, as MB.
	Unit string `yaml:"unit"`
	// Reload names the reload that runs once after all values were written, if this parameter is among them.
	Reload string         `yaml:"reload"`
	Rest   map[string]any `yaml:",remain"`

	Kind  string          `yaml:"-"`
	Block settings.Config `yaml:"-"`
}

// Reload is a command that makes a program read its files again, or restarts it.
type Reload struct {
	Name string `yaml:"name"`
	// Command runs without a shell. A process that it started may outlive it.
	Command []string      `yaml:"command"`
	Timeout time.Duration `yaml:"timeout"`
}

// LoadTune reads, expands and validates the file at path, as Load does.
func LoadTune(path string, lookup func(string) (string, bool)) (*Tune, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the parameters: %w", err)
	}
	t := Tune{Recommender: "127.0.0.1:50051", Settle: 10 * time.Second}
	if err := t.decode(text); err != nil {
		return nil, inFile(path, err)
	}
	if err := t.expand(lookup); err != nil {
		return nil, inFile(path, err)
	}
	if err := t.Validate(); err != nil {
		return nil, inFile(path, err)
	}
	return &t, nil
}

func (t *Tune) decode(text []byte) error {
	document, err := oneDocument(bytes.NewReader(text))
	if err != nil {
		return err
	}
	if document == nil {
		return errors.New("the file is empty: want target and parameters")
	}
	faults := lay(document, t, "")
	for i := range t.Parameters {
		faults = append(faults, t.Parameters[i].block(fmt.Sprintf("parameters[%d]", i))...)
	}
	for i := range t.Reloads {
		if t.Reloads[i].Timeout == 0 {
			t.Reloads[i].Timeout = time.Minute
		}
	}
	return errors.Join(faults...)
}

// block finds the kind of the parameter among the keys that Parameter does not have itself.
func (p *Parameter) block(root string) (faults []error) {
	var kinds []string
	for key := range p.Rest {
		if slices.Contains(settings.Kinds(), key) {
			kinds = append(kinds, key)
		} else {
			faults = append(faults, fmt.Errorf("%s: unknown key: %s", root, key))
		}
	}
	slices.Sort(kinds)
	if len(kinds) != 1 {
		return append(faults, fmt.Errorf("%s: %d kinds: want one of %s", root, len(kinds), strings.Join(settings.Kinds(), ", ")))
	}
	p.Kind = kinds[0]
	p.Block, _ = settings.New(p.Kind)
	var keys any = p.Block
	if size, ok := p.Block.(*settings.Pool); ok {
		keys = size.Block()
	}
	return append(faults, lay(p.Rest[p.Kind], keys, root+"."+p.Kind)...)
}

func (t *Tune) expand(lookup func(string) (string, bool)) error {
	f := filler{lookup: lookup}
	f.fill(&t.Recommender, "recommender")
	f.fill(&t.State, "state")
	for i := range t.Parameters {
		p := &t.Parameters[i]
		f.block(fmt.Sprintf("parameters[%d].%s", i, p.Kind), p.Block)
	}
	return errors.Join(f.faults...)
}

// Validate returns every fault, each with its key and the legal values.
func (t *Tune) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if err := checkAddress(t.Recommender); err != nil {
		fault("recommender: %w", err)
	}
	if t.Target == "" {
		fault(`target: "": want the application, as the session's file names it`)
	}
	if t.Settle < 0 || t.Settle > 10*time.Minute {
		fault("settle: %s: want 0s to 10m", t.Settle)
	}
	if len(t.Parameters) == 0 {
		fault("parameters: none: want one or more")
	}
	if info, err := os.Stat(t.State); t.State != "" && (err != nil || !info.IsDir()) {
		fault("state: %q: want an existing folder", t.State)
	}
	reloads := map[string]bool{}
	for i, r := range t.Reloads {
		if r.Name == "" || reloads[r.Name] {
			fault("reloads[%d].name: %q: want a name of its own", i, r.Name)
		}
		reloads[r.Name] = true
		if len(r.Command) == 0 {
			fault("reloads[%d].command: none: want a program and its arguments", i)
		}
		if r.Timeout < time.Millisecond || r.Timeout > 10*time.Minute {
			fault("reloads[%d].timeout: %s: want 1ms to 10m", i, r.Timeout)
		}
	}
	names := map[string]bool{}
	for i, p := range t.Parameters {
		if p.Name == "" || names[p.Name] {
			fault("parameters[%d].name: %q: want a name of its own", i, p.Name)
		}
		names[p.Name] = true
		if p.Reload != "" && !reloads[p.Reload] {
			fault("parameters[%d].reload: %q: want the name of one of reloads", i, p.Reload)
		}
		words := map[string]bool{}
		for _, word := range p.Values {
			if words[word] {
				fault("parameters[%d].values: %q stands for two values: want one", i, word)
			}
			words[word] = true
		}
		faults = append(faults, block.Below(fmt.Sprintf("parameters[%d].%s", i, p.Kind), p.Block.Validate()))
	}
	return errors.Join(faults...)
}

// Word returns the program's form of a session's value.
func (p *Parameter) Word(value string) string {
	if word, ok := p.Values[value]; ok {
		return word
	}
	return value + p.Unit
}

// Value is the inverse of Word. It writes a number as a session does.
func (p *Parameter) Value(word string) string {
	for value, other := range p.Values {
		if other == word {
			return value
		}
	}
	value := strings.TrimSpace(strings.TrimSuffix(word, p.Unit))
	if number, err := strconv.ParseFloat(value, 64); err == nil && !math.IsInf(number, 0) && !math.IsNaN(number) {
		return strconv.FormatFloat(number, 'g', -1, 64)
	}
	return value
}
