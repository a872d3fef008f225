// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
)

// standardInput is the file name of the standard input.
const standardInput = "-"

// valueFlags are the flags for the values of the installation. They have the same names and meaning as in helm
// install.
type valueFlags struct{ files, set, setString, setFile []string }

// addFlags adds the flags to a command.
func (v *valueFlags) addFlags(flags *pflag.FlagSet) {
	flags.StringSliceVar(&v.files, "values", nil, "file with values as given to helm install, - for the standard input: the top level is for that environment, unless the values set an environment or define this one under environments; may be repeated, and later files take precedence")
	flags.StringArrayVar(&v.set, "set", nil, "values as given to helm install, KEY=VALUE,…; take precedence over --values; may be repeated")
	flags.StringArrayVar(&v.setString, "set-string", nil, "as --set, with values that are always strings; may be repeated")
	flags.StringArrayVar(&v.setFile, "set-file", nil, "as --set, with values that are read from files, KEY=FILE,…; may be repeated")
}

// isSet reports whether one of the flags is set.
func (v *valueFlags) isSet() bool {
	return len(v.files)+len(v.set)+len(v.setString)+len(v.setFile) > 0
}

// readValues returns the values of the command line, or nil for none. If the values do not name their environment, it
// is the first of the given environments that they do not define under environments.
func (s *inputs) readValues(ctx context.Context, environments ...string) (*desired.InstallationValues, error) {
	sources := []valueSource{{&s.values, s.app.readInput}}
	if s.app.moreValues != nil {
		sources = append(sources, *s.app.moreValues)
	}
	var merged *environment.Layer
	for _, layerSource := range sources {
		for _, file := range layerSource.flags.files {
			text, err := layerSource.read(file)
			if err != nil {
				return nil, fmt.Errorf("reading values: %w", err)
			}
			layer, err := environment.ParseLayer(file, text)
			if err != nil { // The error is reported when the values are used.
				return desired.ReadInstallationValues(ctx, s.app.builtin.Chart, file, text, environments...)
			}
			if merged != nil {
				layer = environment.MergeLayers(*merged, layer)
			}
			merged = &layer
		}
		for _, setting := range layerSource.settings() {
			layer, err := setting.ApplyTo(merged)
			if err != nil {
				return nil, err
			}
			merged = &layer
		}
	}
	if merged == nil {
		return nil, nil //nolint:nilnil // The command line has no values.
	}
	return desired.NewInstallationValues(ctx, s.app.builtin.Chart, *merged, environments...)
}

// valueSource consists of the flags for values, and of a function that reads the files that they name.
type valueSource struct {
	flags *valueFlags

	read func(name string) ([]byte, error)
}

// settings returns the settings of single values, in the order of helm.
func (v valueSource) settings() []environment.Setting {
	var settings []environment.Setting
	for _, flag := range []struct {
		name  environment.SettingFlag
		texts []string
	}{{environment.SetValue, v.flags.set}, {environment.SetString, v.flags.setString}, {environment.SetFile, v.flags.setFile}} {
		for _, text := range flag.texts {
			settings = append(settings, environment.Setting{Flag: flag.name, Text: text, ReadFile: v.read})
		}
	}
	return settings
}

// requireOneStdin returns an error if several flags name the standard input, because only the first one could read it.
func requireOneStdin(names ...[]string) error {
	inputNames := slices.Concat(names...)
	isInput := func(name string) bool { return name == standardInput }
	if i := slices.IndexFunc(inputNames, isInput); i >= 0 && slices.ContainsFunc(inputNames[i+1:], isInput) {
		return errors.New("the standard input (-) is named more than once: name it once")
	}
	return nil
}
