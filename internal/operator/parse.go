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

// ParseOptions parses the command line. A flag that is not set gets its value from its environment
// variable, else from the configuration file, else its default. The error is flag.ErrHelp if help
// was requested and printed.
func ParseOptions(arguments []string) (Options, error) {
	options := Options{arguments: arguments}
	flags := flag.NewFlagSet("operator", flag.ContinueOnError)
	options.declareFlags(flags)
	flags.Usage = func() { printUsage(flags) }
	if err := flags.Parse(arguments); err != nil {
		return options, err
	}
	if flags.NArg() > 0 {
		return options, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if err := setFromEnvironment(flags); err != nil {
		return options, err
	}
	if options.Config != "" {
		configFile, err := readFile(options.Config)
		if err != nil {
			return options, err
		}
		if err := configFile.setFlags(flags); err != nil {
			return options, err
		}
	}
	err := options.validate()
	return options, err
}

// printUsage prints the flags and their environment variables.
func printUsage(flags *flag.FlagSet) {
	fmt.Fprintln(flags.Output(), "Usage of operator:")
	flags.PrintDefaults()
	fmt.Fprintln(flags.Output(), "\nEnvironment variables, used if the flag is not set:")
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		fmt.Fprintf(flags.Output(), "  %s: --%s\n", variables[name], name)
	}
	fmt.Fprintln(flags.Output(), "OTEL_EXPORTER_OTLP_ENDPOINT and OpenTelemetry's other variables enable tracing, SENTRY_DSN enables error reports.")
}

// explicitFlags returns the names of the flags that are already set.
func explicitFlags(flags *flag.FlagSet) map[string]bool {
	names := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { names[f.Name] = true })
	return names
}

// setFromEnvironment sets the flags that are not set yet from environment variables.
func setFromEnvironment(flags *flag.FlagSet) error {
	explicit := explicitFlags(flags)
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		text := os.Getenv(variables[name])
		if text == "" || explicit[name] {
			continue
		}
		if err := flags.Set(name, text); err != nil {
			return fmt.Errorf("%s is %q: %w", variables[name], text, err)
		}
	}
	return nil
}

// file contains the values in a configuration file, by flag name.
type file struct {
	path   string
	values map[string]string
}

// readFile reads a configuration file. It converts a list to a comma-separated text, as in a flag.
func readFile(path string) (file, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return file{}, fmt.Errorf("--config: %w", err)
	}
	read := file{path: path, values: map[string]string{}}
	var tree map[string]any
	if err := bounded.Values().DecodeYAMLStrictly(text, &tree); err != nil {
		return file{}, fmt.Errorf("--config: file %s: %w", path, err)
	}
	for name, value := range tree {
		switch value := value.(type) {
		case []any:
			var items []string
			for _, item := range value {
				items = append(items, fmt.Sprint(item))
			}
			read.values[name] = strings.Join(items, ",")
		case map[string]any:
			return file{}, fmt.Errorf("--config: file %s: key %s is a map: it must be a value or a list", path, name)
		case nil: // Unset.
		default:
			read.values[name] = fmt.Sprint(value)
		}
	}
	return read, nil
}

// setFlags sets the flags that are not set yet from the file.
func (f *file) setFlags(flags *flag.FlagSet) error {
	explicit := explicitFlags(flags)
	for _, name := range slices.Sorted(maps.Keys(f.values)) {
		if flags.Lookup(name) == nil || name == "config" {
			return fmt.Errorf("--config: file %s: unknown key %q%s", f.path, name, nearestFlag(name, flags))
		}
		if explicit[name] {
			continue
		}
		if err := flags.Set(name, f.values[name]); err != nil {
			return fmt.Errorf("--config: file %s: key %s is %q: %w", f.path, name, f.values[name], err)
		}
	}
	return nil
}

// nearestFlag returns the end of the message for an unknown key: the most similar flag, or a general hint.
func nearestFlag(name string, flags *flag.FlagSet) string {
	var names []string
	flags.VisitAll(func(f *flag.Flag) {
		if f.Name != "config" {
			names = append(names, f.Name)
		}
	})
	if near := humanize.Nearest(name, names); near != "" {
		return fmt.Sprintf(": did you mean %q?", near)
	}
	return ": it must be the name of a flag without the leading dashes"
}
