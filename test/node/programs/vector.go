// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/yaml"
)

// readInterval is how often the stand-in looks for new lines.
const readInterval = 50 * time.Millisecond

// configuration is as much of Vector's as the stand-in knows.
type configuration struct {
	API struct {
		Enabled bool
		Address string
	}
	DataDir string `json:"data_dir"`
	Sources map[string]struct {
		Type, Mode, Path string
		Include          []string
		SocketFileMode   os.FileMode `json:"socket_file_mode"`
	}
	Sinks map[string]struct {
		Type, Address, URI string
	}
}

// vector stands in for Vector where order, probes and status are the matter, and not what
// Vector does with lines: it reads the files that its configuration names from where it
// was, prints their lines or sends them by HTTP, answers where Vector's API and its
// metrics are, and stops reading after a signal. It reads lines from Unix sockets. It cannot
// create a socket at an existing file, and removes its sockets after a signal.
func vector(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("vector", flag.ContinueOnError)
	path := flags.String("config", "", "its configuration")
	if err := flags.Parse(args); err != nil {
		return err
	}
	text, err := os.ReadFile(*path)
	if err != nil {
		return err
	}
	var config configuration
	if err := yaml.Unmarshal(text, &config); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(78) // EX_CONFIG, as Vector does.
	}
	v := &standIn{config: &config, read: map[string]int64{}}
	v.recall()
	v.serve()
	ended, err := v.listen()
	if err != nil {
		return err
	}
	defer ended()
	ticks := time.NewTicker(readInterval)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
			if err := v.ship(); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}
	}
}

type standIn struct {
	config *configuration
	// read is up to where each file has been sent.
	read map[string]int64
}

func (v *standIn) checkpoints() string { return filepath.Join(v.config.DataDir, "checkpoints.json") }

func (v *standIn) recall() {
	if text, err := os.ReadFile(v.checkpoints()); err == nil {
		_ = json.Unmarshal(text, &v.read) // What is not read is read again.
	}
}

// serve answers on the addresses of the API and of the metrics.
func (v *standIn) serve() {
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{\"ok\":true}\n") })
	var addresses []string
	if v.config.API.Enabled {
		addresses = append(addresses, v.config.API.Address)
	}
	for _, sink := range v.config.Sinks {
		if sink.Type == "prometheus_exporter" {
			addresses = append(addresses, sink.Address)
		}
	}
	for _, address := range addresses {
		server := &http.Server{Handler: answer, ReadHeaderTimeout: time.Minute}
		go func() {
			listener, err := net.Listen(familyOf(address), address)
			if err == nil {
				err = server.Serve(listener)
			}
			fmt.Fprintln(os.Stderr, err)
			os.Exit(78)
		}()
	}
}

// familyOf is tcp4 for an address of IPv4: unlike Vector, Go listens on all addresses for 0.0.0.0.
func familyOf(address string) string {
	if at, err := netip.ParseAddrPort(address); err == nil && at.Addr().Is4() {
		return "tcp4"
	}
	return "tcp"
}

// listen takes lines from sockets that are files, until ended is called.
func (v *standIn) listen() (ended func(), err error) {
	var all []net.Listener
	for _, source := range v.config.Sources {
		if source.Mode != "unix" {
			continue
		}
		listener, err := net.Listen("unix", source.Path)
		if err != nil {
			return nil, err
		}
		if err := os.Chmod(source.Path, source.SocketFileMode); err != nil {
			return nil, err
		}
		all = append(all, listener)
		go v.accept(listener)
	}
	return func() {
		for _, listener := range all {
			_ = listener.Close()
		}
	}, nil
}

func (v *standIn) accept(listener net.Listener) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			lines := bufio.NewScanner(connection)
			for lines.Scan() {
				if err := v.send(lines.Bytes()); err != nil {
					fmt.Fprintln(os.Stderr, err)
				}
			}
		}()
	}
}

// ship sends the whole lines that files have grown by, and notes how far it came.
func (v *standIn) ship() error {
	for _, source := range v.config.Sources {
		for _, pattern := range source.Include {
			found, err := filepath.Glob(pattern)
			if err != nil {
				return err
			}
			for _, path := range found {
				if err := v.grown(path); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (v *standIn) grown(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Seek(v.read[path], io.SeekStart); err != nil {
		return err
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	if len(text) == 0 {
		return nil
	}
	if err := v.send(text); err != nil {
		return err
	}
	v.read[path] += int64(len(text))
	noted, err := json.Marshal(v.read)
	return errors.Join(err, os.WriteFile(v.checkpoints(), noted, 0o600))
}

func (v *standIn) send(text []byte) error {
	var events bytes.Buffer
	encoder := json.NewEncoder(&events)
	for line := range bytes.Lines(text) {
		if err := encoder.Encode(map[string]string{"message": string(bytes.TrimSuffix(line, []byte("\n")))}); err != nil {
			return err
		}
	}
	for _, sink := range v.config.Sinks {
		switch sink.Type {
		case "console":
			if _, err := os.Stdout.Write(events.Bytes()); err != nil {
				return err
			}
		case "http":
			response, err := http.Post(sink.URI, "application/json", bytes.NewReader(events.Bytes()))
			if err != nil {
				return err
			}
			if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusOK {
				return errors.Join(errors.New(response.Status), err)
			}
		}
	}
	return nil
}
