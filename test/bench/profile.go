// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
)

// profileSeconds is the duration of a CPU profile.
const profileSeconds = 20

// profile starts a CPU profile of an operator if the run has the flag. finish waits for its end and stores it.
func (b *bench) profile(ctx context.Context, operator *process) (finish func() error) {
	if !b.profiles {
		return func() error { return nil }
	}
	done := make(chan error, 1)
	go func() {
		url := fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", operator.pprof, profileSeconds)
		done <- keep(ctx, url, b.file(fmt.Sprintf("cpu-%d.pprof", b.program.starts)))
	}()
	return func() error { return <-done }
}

// keep writes the response of a URL to a file.
func keep(ctx context.Context, url, file string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("taking a profile: %w", err)
	}
	defer response.Body.Close()
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	_, err = io.Copy(out, response.Body)
	return err
}
