// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package draingate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// fingerprint identifies a file in Vector's checkpoints, by a checksum or by a device and an inode.
type fingerprint struct {
	strategy      string
	checksum      uint64
	device, inode uint64
}

// checkpoints has the number of bytes at the start of each file that Vector has finished with: read or, if
// acknowledgements are enabled, delivered.
type checkpoints map[fingerprint]int64

// version is the supported version of Vector's checkpoint format.
const version = "1"

// mostBytes limits the size of the checkpoints file, which has about 200 bytes for each log file.
const mostBytes = 4 << 20

// readCheckpoints reads the checkpoints of a source. They are empty if the file does not exist,
// because Vector writes it only after the first line.
func readCheckpoints(dataDir, source string) (checkpoints, error) {
	path := filepath.Join(dataDir, source, "checkpoints.json")
	positions, err := decodeCheckpoints(path)
	if err != nil {
		return nil, fmt.Errorf("reading the checkpoints %s: %w", path, err)
	}
	return positions, nil
}

// decodeCheckpoints decodes a checkpoints file. The result is empty if the file does not exist.
func decodeCheckpoints(path string) (checkpoints, error) {
	opened, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return checkpoints{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = opened.Close() }() // It was only read.
	text, err := io.ReadAll(io.LimitReader(opened, mostBytes))
	if err != nil {
		return nil, err
	}
	var written struct {
		Version     string `json:"version"`
		Checkpoints []struct {
			Fingerprint struct {
				Lines *uint64 `json:"first_lines_checksum"`
				// Line is its name in earlier releases of Vector.
				Line  *uint64    `json:"first_line_checksum"`
				Inode *[2]uint64 `json:"dev_inode"`
			} `json:"fingerprint"`
			Position *int64 `json:"position"`
		} `json:"checkpoints"`
	}
	if err := json.Unmarshal(text, &written); err != nil {
		return nil, err
	}
	if written.Version != version {
		return nil, fmt.Errorf("unsupported version %q, expected %q", written.Version, version)
	}
	positions := checkpoints{}
	for _, checkpoint := range written.Checkpoints {
		id := checkpoint.Fingerprint
		switch {
		case checkpoint.Position == nil:
			return nil, errors.New("a checkpoint has no position")
		case id.Lines != nil:
			positions[checksumFingerprint(*id.Lines)] = *checkpoint.Position
		case id.Line != nil:
			positions[checksumFingerprint(*id.Line)] = *checkpoint.Position
		case id.Inode != nil:
			positions[inodeFingerprint(id.Inode[0], id.Inode[1])] = *checkpoint.Position
		default:
			return nil, errors.New("a checkpoint has an unknown kind of fingerprint")
		}
	}
	return positions, nil
}

// checksumFingerprint returns the fingerprint of a file that Vector identifies by a checksum.
func checksumFingerprint(sum uint64) fingerprint {
	return fingerprint{strategy: byChecksum, checksum: sum}
}

// inodeFingerprint returns the fingerprint of a file that Vector identifies by its device and inode.
func inodeFingerprint(device, inode uint64) fingerprint {
	return fingerprint{strategy: byDeviceAndInode, device: device, inode: inode}
}
