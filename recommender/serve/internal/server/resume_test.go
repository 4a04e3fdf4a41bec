package server_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"sluice.dev/serve/internal/journaltest"
	"sluice.dev/serve/internal/problem"
	"sluice.dev/serve/internal/watch"

	commonv1 "sluice.dev/api/common/v1"
)

// token is a token of this time at this server, some offsets behind its newest heartbeat.
func (r *running) token(further int64, age time.Duration) string {
	view := r.service.Tables().Pools.View()
	return watch.Token{Topic: view.Topic, At: time.Now().Add(-age), Offsets: []int64{view.Shards[0].Position + further}}.String()
}

func TestWhatBecomesOfATokenIsTold(t *testing.T) {
	journal := journaltest.New(t, 1)
	journal.Decider(t, 0).Publish(journaltest.Apply(cart, 1, 8))
	r := start(t, journal, options{}).ready(t)
	for _, tt := range []struct {
		name  string
		token string
		want  commonv1.Resumption
	}{
		{"none", "", commonv1.Resumption_RESUMPTION_NO_TOKEN},
		{"as old as removals are remembered", r.token(0, 25*time.Hour), commonv1.Resumption_RESUMPTION_TOO_OLD},
		{"beyond the end, such as of a journal that lost it", r.token(1000, 0), commonv1.Resumption_RESUMPTION_PAST_END},
		{"of another number of shards", watch.Token{
			Topic: r.service.Tables().Pools.View().Topic, At: time.Now(), Offsets: []int64{1, 1},
		}.String(), commonv1.Resumption_RESUMPTION_OTHER_LOG},
	} {
		w := r.watch(t, &ask{ResumeToken: tt.token}).awaitSnapshot()
		if w.snapshots != 1 || w.answers != 1 || w.resumption != tt.want {
			t.Errorf("%s: %v, %d answers in %d snapshots", tt.name, w.resumption, w.answers, w.snapshots)
		}
	}
	if w := r.watch(t, &ask{ResumeToken: r.token(0, 23*time.Hour)}).awaitSnapshot(); w.snapshots != 0 || w.answers != 0 {
		t.Error("a token that is good was not", w.resumption)
	}
}

// behind is a server that has not read as far as a token, which the journal has: the missing records follow its newest heartbeat.
func behind(t *testing.T) (*running, *journaltest.Decider, string) {
	journal := journaltest.New(t, 1)
	d := journal.Decider(t, 0)
	d.Publish(journaltest.Apply(cart, 1, 8))
	r := start(t, journal, options{}).ready(t)
	token := r.token(1, 0)
	d.Begin()
	d.Put(journal.Decisions, cart.Record(), journaltest.Apply(cart, 2, 9))
	d.End(true)
	return r, d, token
}

func TestAServerThatIsBehindATokenWaits(t *testing.T) {
	r, d, token := behind(t)
	w := r.watch(t, &ask{ResumeToken: token})
	time.AfterFunc(100*time.Millisecond, func() { d.Publish(journaltest.Apply(cart, 3, 10)) })
	if w.at(cart, 3); w.snapshots != 0 {
		t.Error("everything was sent:", w.resumption)
	}
}

func TestAServerThatStaysBehindATokenSaysSo(t *testing.T) {
	r, _, token := behind(t)
	stream, err := r.client.WatchPoolSizes(t.Context(), &ask{ResumeToken: token})
	must(t, err)
	began := time.Now()
	_, err = stream.Recv()
	assertError(t, err, codes.Unavailable, problem.BehindToken, "")
	if waited := time.Since(began); waited < watch.Patience {
		t.Errorf("it waited for %v", waited)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	stream, err = r.client.WatchPoolSizes(ctx, &ask{ResumeToken: token})
	must(t, err)
	_, err = stream.Recv()
	refused(t, err, codes.DeadlineExceeded)
}

func TestAWatcherThatDoesNotReadIsSentWhatIsNewest(t *testing.T) {
	journal := journaltest.New(t, 1)
	d := journal.Decider(t, 0)
	d.Publish(journaltest.Apply(cart, 1, 8))
	r := start(t, journal, options{}).ready(t)
	w := r.watch(t, &ask{}).awaitSnapshot()
	const last = 600 // far more than the windows of a stream hold
	large := journaltest.Apply(cart, 1, 8)
	large.Model = strings.Repeat("x", 2000)
	for revision := uint64(2); revision <= last; revision++ {
		large.Revision = revision
		d.Publish(large)
	}
	if w.at(cart, last); w.answers > last/2 {
		t.Errorf("it was told %d of %d", w.answers, last-1)
	}
}
