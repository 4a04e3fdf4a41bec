package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"sluice.dev/actuators/internal/disk"
)

// Store keeps records by target. It is safe for several goroutines, each with targets of its own.
type Store interface {
	// Load returns a target's record, an empty one for a target without a record.
	Load(target string) (Record, error)
	// Save returns once another process would find the record.
	Save(target string, record Record) error
}

// Folder is a folder with a file for each target, for one process at a time.
type Folder struct {
	path string
	lock *os.File
}

// OpenFolder makes the folder if it does not exist, and locks it for this process. Error: another process has the lock.
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
		return nil, fmt.Errorf("open the state: another running actuator has %s: want a folder for each: %w", path, err)
	}
	tidy(path, time.Now())
	return &Folder{path, lock}, nil
}

// keptFor is how long the record of a target is kept that no longer exists: new instances come every day.
const keptFor = 365 * 24 * time.Hour

// tidy removes files that processes left when they were killed during a write, and records that were unused for keptFor.
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

// Close unlocks the folder.
func (f *Folder) Close() error { return f.lock.Close() }

// Load implements Store. A file that cannot be read is renamed to FILE.bad, and is an error once.
func (f *Folder) Load(target string) (Record, error) {
	now := time.Now()
	os.Chtimes(f.file(target), now, now) // marks the record as used, also where it is written no more
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

// file is the path of a target's record; names of targets have no separators.
func (f *Folder) file(target string) string { return filepath.Join(f.path, target+".json") }

func read(path string) (record Record, err error) {
	if err = disk.ReadJSON(path, &record); err != nil {
		return Record{}, fmt.Errorf("read the state: %w", err)
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

// Copy reads a folder for a dry run: it changes nothing in it, and takes no lock.
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
