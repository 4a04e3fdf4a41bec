package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"sluice.dev/actuators/internal/disk"
)

// Store keeps records by target. It is for several goroutines, each with targets of its own.
type Store interface {
	// Load returns a target's record, an empty one for a target that has none.
	Load(target string) (Record, error)
	// Save returns once the record would be found by another process.
	Save(target string, record Record) error
}

// Folder is a file a target, for one process at a time.
type Folder struct {
	path string
	lock *os.File
}

// OpenFolder makes the folder if need be and takes it for this process. Error: another process has it.
func OpenFolder(path string) (*Folder, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("open the state: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the state: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		lock.Close()
		return nil, fmt.Errorf("open the state: %s is another actuator's that runs: want one for a target: %w", path, err)
	}
	tidy(path, time.Now())
	return &Folder{path, lock}, nil
}

// keptFor is how long a record stays of a target that is not there any more: of instances new ones come every day.
const keptFor = 365 * 24 * time.Hour

// tidy removes what processes that were killed as they wrote left, and records that were not touched for long.
func tidy(path string, now time.Time) {
	halves, _ := filepath.Glob(filepath.Join(path, ".*.json.*"))
	for _, half := range halves {
		os.Remove(half)
	}
	records, _ := filepath.Glob(filepath.Join(path, "*.json*"))
	for _, record := range records {
		if info, err := os.Stat(record); err == nil && now.Sub(info.ModTime()) > keptFor {
			os.Remove(record)
		}
	}
}

// Close gives the folder to others.
func (f *Folder) Close() error { return f.lock.Close() }

// Load implements Store. What cannot be read is put aside as FILE.bad, and is an error once.
func (f *Folder) Load(target string) (Record, error) {
	now := time.Now()
	os.Chtimes(f.file(target), now, now) // it is in use, also where nothing is written any more
	record, err := read(f.file(target))
	if err != nil {
		err = errors.Join(err, os.Rename(f.file(target), f.file(target)+".bad"))
	}
	return record, err
}

// Save implements Store.
func (f *Folder) Save(target string, record Record) error {
	text, err := json.Marshal(record)
	if err != nil {
		return err
	}
	return disk.Replace(f.file(target), append(text, '\n'), 0o600)
}

// file of a target, whose names have no separators.
func (f *Folder) file(target string) string { return filepath.Join(f.path, target+".json") }

func read(path string) (Record, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, nil
	}
	var record Record
	if err == nil {
		err = json.Unmarshal(text, &record)
	}
	if err != nil {
		return Record{}, fmt.Errorf("read the state: %s: %w", path, err)
	}
	return record, nil
}

// Memory is a store that ends with the process. The zero value is empty.
type Memory struct {
	mu      sync.Mutex
	records map[string]Record
}

// Load implements Store.
func (m *Memory) Load(target string) (Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.records[target], nil
}

// Save implements Store.
func (m *Memory) Save(target string, record Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.records == nil {
		m.records = map[string]Record{}
	}
	m.records[target] = record
	return nil
}

// Copy is what a folder has, for who only looks: nothing of it is changed, and nobody is kept from it.
func Copy(path string, targets []string) (*Memory, error) {
	m := &Memory{records: map[string]Record{}}
	for _, target := range targets {
		record, err := read((&Folder{path: path}).file(target))
		if err != nil {
			return nil, err
		}
		m.records[target] = record
	}
	return m, nil
}
