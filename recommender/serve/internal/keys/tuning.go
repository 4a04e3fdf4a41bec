package keys

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Head is the Trial of a session's own key.
const Head = -1

// Tuning is the key of a tuning session (Trial is Head), or of one of its trials.
type Tuning struct {
	Session string
	Trial   int64
}

// SessionKey is the key of the session itself.
func SessionKey(name string) Tuning { return Tuning{name, Head} }

// Compare orders by session, then by trial; the session comes before its trials.
func (t Tuning) Compare(u Tuning) int {
	return cmp.Or(cmp.Compare(t.Session, u.Session), cmp.Compare(t.Trial, u.Trial))
}

// String is for people.
func (t Tuning) String() string {
	if t.Trial == Head {
		return t.Session
	}
	return fmt.Sprintf("trial %d of %s", t.Trial, t.Session)
}

// Group is the session.
func (t Tuning) Group() string { return t.Session }

// Record is the key of the record: session/NAME, or trial/NAME/NUMBER. Commands of a session are under the first.
func (t Tuning) Record() string {
	if t.Trial == Head {
		return recordKey("session", t.Session)
	}
	return recordKey("trial", t.Session, strconv.FormatInt(t.Trial, 10))
}

// ParseTuning is the inverse of Record.
func ParseTuning(record string) (Tuning, error) {
	if strings.HasPrefix(record, "session/") {
		names, err := parseRecord(record, "session", 1)
		if err != nil {
			return Tuning{}, err
		}
		return SessionKey(names[0]), nil
	}
	names, err := parseRecord(record, "trial", 2)
	if err != nil {
		return Tuning{}, err
	}
	number, err := strconv.ParseUint(names[1], 10, 32)
	if err != nil || strconv.FormatUint(number, 10) != names[1] {
		return Tuning{}, fmt.Errorf("%q: want trial/SESSION/NUMBER", record)
	}
	return Tuning{names[0], int64(number)}, nil
}

// Answers is a shard, as the key of the answers to its newest commands.
type Answers int32

// Compare orders by number.
func (a Answers) Compare(b Answers) int { return cmp.Compare(a, b) }

// Group is the same for all.
func (a Answers) Group() string { return "" }

// Record is the key of the record of the answers: answers/NUMBER.
func (a Answers) Record() string { return fmt.Sprintf("answers/%d", a) }

// ParseAnswers is the inverse of Record.
func ParseAnswers(record string) (Answers, error) {
	text, _ := strings.CutPrefix(record, "answers/")
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 || Answers(n).Record() != record {
		return 0, fmt.Errorf("%q: want answers/NUMBER", record)
	}
	return Answers(n), nil
}
