package keys

import "testing"

// FuzzKeys: a key that is read from a record is written as one that reads the same, whatever its names hold.
func FuzzKeys(f *testing.F) {
	for _, record := range []string{
		"pool/cart/server/", "pool/catalogue/client/db%2F1", "pool/%00/consumer/", "candidate/cart/server/", "subset/a/a-1/b", "containers/b",
		"pair/a/b", "application/shop", "session/first", "trial/first/12", "trial/first/-1", "answers/0", "shard/3", "pool/%ff/server/", "//", "%",
	} {
		f.Add(record)
	}
	f.Fuzz(func(t *testing.T, record string) {
		readsTheSame(t, record, ParsePool, Pool.Record)
		readsTheSame(t, record, ParseCandidate, Pool.Candidate)
		readsTheSame(t, record, ParseSubset, Subset.Record)
		readsTheSame(t, record, ParseCalledService, CalledService.Record)
		readsTheSame(t, record, ParsePair, Pair.Record)
		readsTheSame(t, record, ParseTuning, Tuning.Record)
		readsTheSame(t, record, ParseAnswers, Answers.Record)
		readsTheSame(t, record, ParseApplication, Application)
		_, _, _ = ParseShard(record)
	})
}

func readsTheSame[K comparable](t *testing.T, record string, parse func(string) (K, error), write func(K) string) {
	t.Helper()
	key, err := parse(record)
	if err != nil {
		return
	}
	if again, err := parse(write(key)); err != nil || again != key {
		t.Errorf("%q is %v, and written as %q is %v: %v", record, key, write(key), again, err)
	}
}
