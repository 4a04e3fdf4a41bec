package reconcile

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// scripted is a product that notes its steps, and does in each what its fields have.
type scripted struct {
	resume, read error
	write        bool
	stored       bool
	steps        []string
}

func (s *scripted) step(name string) { s.steps = append(s.steps, name) }

func (s *scripted) Resume(context.Context, *struct{}) error { s.step("resume"); return s.resume }
func (s *scripted) Read(context.Context, *struct{}) error   { s.step("read"); return s.read }
func (s *scripted) Decide(context.Context, *struct{}) bool  { s.step("decide"); return s.write }
func (s *scripted) Intend(*struct{}) bool                   { s.step("intend"); return s.stored }
func (s *scripted) Write(context.Context, *struct{})        { s.step("write") }
func (s *scripted) Report(*struct{})                        { s.step("report") }

func (s *scripted) Record(_ context.Context, _ *struct{}, err error) {
	if err != nil {
		s.step("record " + err.Error())
		return
	}
	s.step("record")
}

// A write comes after its intent, and a target that cannot be read, or whose last write cannot be ended, is left alone.
func TestPassTakesItsStepsInOrder(t *testing.T) {
	for name, c := range map[string]struct {
		product scripted
		want    string
	}{
		"a write":                      {scripted{write: true, stored: true}, "resume read decide intend write report record"},
		"a write without its intent":   {scripted{write: true}, "resume read decide intend report record"},
		"no write":                     {scripted{stored: true}, "resume read decide report record"},
		"a target that cannot be read": {scripted{read: errors.New("gone"), write: true, stored: true}, "resume read record gone"},
		"a write that cannot be ended": {scripted{resume: errors.New("gone"), write: true, stored: true}, "resume record gone"},
	} {
		Pass(t.Context(), t.Context(), &c.product, &struct{}{})
		if got := strings.Join(c.product.steps, " "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
