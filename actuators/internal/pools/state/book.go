package state

import "sync"

// Book has a store's records, and reads each once. It is safe for several goroutines, also on one target.
type Book struct {
	store Store

	mu      sync.Mutex
	entries map[string]*entry
}

type entry struct {
	mu     sync.Mutex
	read   bool
	record Record
}

// NewBook returns the records of store.
func NewBook(store Store) *Book { return &Book{store: store, entries: map[string]*entry{}} }

// Get returns a target's record. With an error, which it returns once, the record is empty.
func (b *Book) Get(target string) (Record, error) {
	e := b.entry(target)
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.get(b.store, target)
}

// Update stores the changed record of a target. With an error the record stays as it was.
func (b *Book) Update(target string, change func(Record) Record) error {
	e := b.entry(target)
	e.mu.Lock()
	defer e.mu.Unlock()
	before, err := e.get(b.store, target)
	if err != nil {
		return err
	}
	after := change(before)
	if err := b.store.Save(target, after); err != nil {
		return err
	}
	e.record = after
	return nil
}

func (b *Book) entry(target string) *entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.entries[target] == nil {
		b.entries[target] = &entry{}
	}
	return b.entries[target]
}

func (e *entry) get(store Store, target string) (Record, error) {
	if e.read {
		return e.record, nil
	}
	record, err := store.Load(target)
	e.record, e.read = record, true
	return record, err
}
