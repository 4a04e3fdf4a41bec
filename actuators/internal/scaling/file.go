package scaling

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sluice.dev/actuators/internal/block"
)

// FileConfig is the `file` block: a JSON document that another program writes.
type FileConfig struct {
	Path string   `yaml:"path"`
	Read Pointers `yaml:"read"`
}

// Validate returns every fault, each with its key relative to this block and the legal values.
func (c FileConfig) Validate() error {
	return errors.Join(wantPath(c.Path), block.Below("read", c.Read.Validate()))
}

// File reads the document each time.
type File struct{ Config FileConfig }

// Read implements Source.
func (f File) Read(context.Context) (Reading, error) {
	text, err := content(f.Config.Path)
	if err != nil {
		return Reading{}, err
	}
	reading, err := f.Config.Read.read(text)
	if err != nil {
		return Reading{}, fmt.Errorf("%s: %w", f.Config.Path, err)
	}
	return reading, nil
}

// CgroupConfig is the `cgroup` block: the CPU limit of a control group of this host.
type CgroupConfig struct {
	// Path of its cpu.max, or, for version 1, of its cpu.cfs_quota_us, which has cpu.cfs_period_us beside it.
	Path string `yaml:"path"`
}

// Validate returns every fault, each with its key relative to this block and the legal values.
func (c CgroupConfig) Validate() error { return wantPath(c.Path) }

// Cgroup reads "QUOTA PERIOD" in microseconds, a limit of QUOTA / PERIOD cores.
type Cgroup struct {
	Config CgroupConfig
	// HostCores is the limit of a group without one ("max PERIOD"; -1 in version 1).
	HostCores int
}

// Read implements Source.
func (c Cgroup) Read(context.Context) (Reading, error) {
	text, err := c.content()
	if err != nil {
		return Reading{}, err
	}
	fields := strings.Fields(text)
	if len(fields) != 2 {
		return Reading{}, fmt.Errorf("%s: %q: want QUOTA PERIOD or max PERIOD", c.Config.Path, text)
	}
	if fields[0] == "max" || fields[0] == "-1" {
		return Reading{CPULimitCores: float64(c.HostCores)}, nil
	}
	quota, quotaErr := strconv.ParseFloat(fields[0], 64)
	period, periodErr := strconv.ParseFloat(fields[1], 64)
	if quotaErr != nil || periodErr != nil || quota <= 0 || period <= 0 {
		return Reading{}, fmt.Errorf("%s: %q: want QUOTA PERIOD or max PERIOD", c.Config.Path, text)
	}
	return Reading{CPULimitCores: quota / period}, nil
}

// content returns the text of cpu.max, also for version 1, which has quota and period in two files.
func (c Cgroup) content() (string, error) {
	quota, err := content(c.Config.Path)
	if err != nil || filepath.Base(c.Config.Path) != "cpu.cfs_quota_us" {
		return string(quota), err
	}
	period, err := content(filepath.Join(filepath.Dir(c.Config.Path), "cpu.cfs_period_us"))
	return string(quota) + " " + string(period), err
}

func content(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxBytes+1))
}

func wantPath(path string) error {
	if path == "" {
		return errors.New(`path: "": want the path of a file`)
	}
	return nil
}
