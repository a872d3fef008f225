// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
)

// ParseOptions reads the command line. What it does not say comes from the
// environment variable that stands in for the flag, else from the configuration
// file, else has a default. The error is flag.ErrHelp when help was asked for and
// printed.
func ParseOptions(arguments []string) (Options, error) {
	options := Options{arguments: arguments}
	flags := flag.NewFlagSet("operator", flag.ContinueOnError)
	options.declare(flags)
	flags.Usage = func() { usage(flags) }
	if err := flags.Parse(arguments); err != nil {
		return options, err
	}
	if flags.NArg() > 0 {
		return options, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if err := fromEnvironment(flags); err != nil {
		return options, err
	}
	if options.Config != "" {
		given, err := readFile(options.Config)
		if err != nil {
			return options, err
		}
		if err := given.fill(flags); err != nil {
			return options, err
		}
	}
	err := options.check()
	return options, err
}

// usage prints the flags and the variables that stand in for them.
func usage(flags *flag.FlagSet) {
	fmt.Fprintln(flags.Output(), "Usage of operator:")
	flags.PrintDefaults()
	fmt.Fprintln(flags.Output(), "\nVariables of the environment, each for the flag that is not given:")
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		fmt.Fprintf(flags.Output(), "  %s: --%s\n", variables[name], name)
	}
	fmt.Fprintln(flags.Output(), "OTEL_EXPORTER_OTLP_ENDPOINT and OpenTelemetry's other variables switch tracing on, SENTRY_DSN error reports.")
}

// given tells the flags that have a value already.
func given(flags *flag.FlagSet) map[string]bool {
	names := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { names[f.Name] = true })
	return names
}

func fromEnvironment(flags *flag.FlagSet) error {
	already := given(flags)
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		text := os.Getenv(variables[name])
		if text == "" || already[name] {
			continue
		}
		if err := flags.Set(name, text); err != nil {
			return fmt.Errorf("%s is %q: %w", variables[name], text, err)
		}
	}
	return nil
}

// file is a configuration file: values by the names of flags.
type file struct {
	path   string
	values map[string]string
}

func readFile(path string) (file, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return file{}, fmt.Errorf("--config: %w", err)
	}
	read := file{path: path, values: map[string]string{}}
	var tree map[string]any
	if err := bounded.Values().DecodeYAMLStrictly(text, &tree); err != nil {
		return file{}, fmt.Errorf("--config: %s: %w", path, err)
	}
	for name, value := range tree {
		switch value := value.(type) {
		case []any:
			var parts []string
			for _, part := range value {
				parts = append(parts, fmt.Sprint(part))
			}
			read.values[name] = strings.Join(parts, ",")
		case map[string]any:
			return file{}, fmt.Errorf("--config: %s: %s is a map: it must be a value or a list", path, name)
		case nil: // Not given.
		default:
			read.values[name] = fmt.Sprint(value)
		}
	}
	return read, nil
}

// fill gives the file's values to the flags that have none yet.
func (f *file) fill(flags *flag.FlagSet) error {
	already := given(flags)
	for _, name := range slices.Sorted(maps.Keys(f.values)) {
		if flags.Lookup(name) == nil || name == "config" {
			return fmt.Errorf("--config: %s: unknown key %q%s", f.path, name, nearest(name, flags))
		}
		if already[name] {
			continue
		}
		if err := flags.Set(name, f.values[name]); err != nil {
			return fmt.Errorf("--config: %s: %s is %q: %w", f.path, name, f.values[name], err)
		}
	}
	return nil
}

func nearest(name string, flags *flag.FlagSet) string {
	var known []string
	flags.VisitAll(func(f *flag.Flag) {
		if f.Name != "config" {
			known = append(known, f.Name)
		}
	})
	if near := humanize.Nearest(name, known); near != "" {
		return fmt.Sprintf(": did you mean %q?", near)
	}
	return ": it must be the name of a flag, without dashes"
}
