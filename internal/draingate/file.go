// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package draingate

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"syscall"
	"time"
)

// file is a log file that has the lines for its fingerprint.
type file struct {
	path        string
	fingerprint fingerprint
	modified    time.Time
}

// errCompressed is the error for a compressed file, which cannot be checked.
var errCompressed = errors.New("file is compressed with gzip, and its checkpoint counts uncompressed bytes")

// openFile opens a file and reads its fingerprint. It returns nil if Vector does not read the file: a
// directory, a deleted file, or a file that has too few lines for its fingerprint.
func (s *Source) openFile(path string) (*file, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, nil
	}
	opened, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = opened.Close() }() // It was only read.
	if info, err = opened.Stat(); err != nil {
		return nil, err
	}
	id, err := s.readFingerprint(opened, info)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	return &file{path: path, fingerprint: id, modified: info.ModTime()}, err
}

// gzipped is the prefix of files that gzip compressed.
var gzipped = []byte{0x1f, 0x8b}

// readFingerprint returns the file's fingerprint as Vector calculates it. It returns io.EOF if the
// file is too short for a fingerprint.
func (s *Source) readFingerprint(opened *os.File, info fs.FileInfo) (fingerprint, error) {
	reader := bufio.NewReader(io.NewSectionReader(opened, 0, math.MaxInt64))
	head, err := reader.Peek(len(gzipped))
	if err != nil && !errors.Is(err, io.EOF) {
		return fingerprint{}, err
	}
	if bytes.Equal(head, gzipped) {
		return fingerprint{}, errCompressed
	}
	if s.Fingerprint.Strategy == byDeviceAndInode {
		stat, isKnown := info.Sys().(*syscall.Stat_t)
		if !isKnown {
			return fingerprint{}, errors.New("inode of the file is unknown")
		}
		return inodeFingerprint(uint64(stat.Dev), stat.Ino), nil //nolint:unconvert // An int32 on some systems.
	}
	if err != nil {
		return fingerprint{}, err
	}
	if _, err := reader.Discard(int(s.Fingerprint.IgnoredHeaderBytes)); err != nil {
		return fingerprint{}, err
	}
	return computeChecksum(reader, s.Fingerprint.Lines, s.MaxLineBytes)
}

// computeChecksum returns the checksum of the first lines of a file, with their line ends. It covers at most
// maxLineBytes bytes in all, and returns io.EOF if the file has fewer lines and bytes.
func computeChecksum(reader io.ByteReader, lines int, maxLineBytes int64) (fingerprint, error) {
	sum := uint64(0)
	for range maxLineBytes {
		b, err := reader.ReadByte()
		if err != nil {
			return fingerprint{}, err
		}
		sum = ecma182[byte(sum>>56)^b] ^ sum<<8
		if b != '\n' {
			continue
		}
		if lines--; lines <= 0 {
			break
		}
	}
	return checksumFingerprint(sum), nil
}

// ecma182 is the table of CRC-64/ECMA-182. Its bits are not reflected, unlike the table of
// hash/crc64.
var ecma182 = func() (table [256]uint64) {
	const polynomial = 0x42f0e1eba9ea3693
	for i := range table {
		sum := uint64(i) << 56
		for range 8 {
			carry := sum >> 63
			sum = sum<<1 ^ carry*polynomial
		}
		table[i] = sum
	}
	return table
}()

// hasLines reports whether a line ends after a position. Lines above the size limit do not count,
// because Vector drops them. A last line without a line end does not count, because Vector does not
// read it yet.
func (f *file) hasLines(position, maxLineBytes int64) (bool, error) {
	opened, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = opened.Close() }() // It was only read.
	reader := bufio.NewReader(io.NewSectionReader(opened, position, math.MaxInt64-position))
	for length := int64(0); ; {
		chunk, err := reader.ReadSlice('\n')
		length += int64(len(chunk))
		switch {
		case err == nil && length <= maxLineBytes+1:
			return true, nil
		case err == nil:
			length = 0
		case errors.Is(err, io.EOF):
			return false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return false, err
		}
	}
}
