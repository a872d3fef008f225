// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// words are known arguments.
func words(line string) []Text {
	var all []Text
	for word := range strings.FieldsSeq(line) {
		if word == "''" {
			word = ""
		}
		all = append(all, Text{Value: word, IsOpen: strings.Contains(word, "$(")})
	}
	return all
}

// names returns the flags and variables that have faults.
func names(line *CommandLine) []string {
	var all []string
	for _, fault := range line.Faults {
		all = append(all, fault.Name)
	}
	return all
}

// Each case is a command line of Vector, and its invalid arguments.
func TestParse_FindsFaultsOfArguments(t *testing.T) {
	for line, want := range map[string][]string{
		"":                                    nil,
		"--config /a.yaml --watch-config -vv": nil,
		"-c/a.yaml -C=/conf -qt 2":            nil,
		"--config /a.yaml --config /b.yaml -c /c.yaml,/d.yaml": nil,
		"--require-healthy true --color never":                 nil,
		"--threads +2 --internal-log-rate-limit 0":             nil,
		"--config /etc/vector/**/*.yaml":                       nil,
		"--config /a[!b].yaml":                                 nil,
		"--no-such-flag":                                       {"--no-such-flag"},
		"--no-such-flag=1 --nor-this":                          {"--no-such-flag", "--nor-this"},
		"-x":                                                   {"-x"},
		"-qx":                                                  {"-x"},
		"--Config /a.yaml":                                     {"--Config", "/a.yaml"},
		"--threads two":                                        {"--threads"},
		"--threads 0":                                          {"--threads"},
		"--threads":                                            {"--threads"},
		"--threads --quiet":                                    {"--threads"},
		"--threads 1 -t 2":                                     {"-t"},
		"--watch-config=true":                                  {"--watch-config"},
		"--watch-config true":                                  {"true"},
		"--watch-config -w":                                    {"-w"},
		"--require-healthy":                                    {"--require-healthy"},
		"--require-healthy yes":                                {"--require-healthy"},
		"--log-format JSON":                                    {"--log-format"},
		"--color sometimes":                                    {"--color"},
		"--watch-config-method inotify":                        {"--watch-config-method"},
		"--graceful-shutdown-limit-secs 30s":                   {"--graceful-shutdown-limit-secs"},
		"--graceful-shutdown-limit-secs -5":                    {"--graceful-shutdown-limit-secs", "-5"},
		"--graceful-shutdown-limit-secs 0":                     {"--graceful-shutdown-limit-secs"},
		"--watch-config-poll-interval-seconds 0":               {"--watch-config-poll-interval-seconds"},
		"--internal-log-rate-limit 1.5":                        {"--internal-log-rate-limit"},
		"--config ''":                                          {"--config"},
		"--config=":                                            {"--config"},
		"--config /a.yaml,":                                    {"--config"},
		"--config /a**.yaml":                                   {"--config"},
		"--config /a[.yaml":                                    {"--config"},
		"--graceful-shutdown-limit-secs 5 --no-graceful-shutdown-limit": {"--no-graceful-shutdown-limit"},
		"run":                        {"run"},
		"/etc/vector/vector.yaml":    {"/etc/vector/vector.yaml"},
		"-- --config":                {"--config"},
		"--":                         nil,
		"-":                          {"-"},
		"--version":                  {"--version"},
		"-h":                         {"-h"},
		"validate --no-environment":  nil,
		"--threads two validate -x":  {"--threads"},
		"--threads=$(N) --nope":      {"--nope"},
		"--threads $(N) --nope":      {"--nope"},
		"$(FLAGS) --nope":            nil,
		"--config=/a/$(X).yaml --no": {"--no"},
	} {
		require.Equal(t, want, names(Parse(Input{Minor: Newest, Args: words(line)})), line)
	}
}

// Each case is an environment variable of Vector, and whether its value is valid.
func TestParse_FindsFaultsOfVariables(t *testing.T) {
	for pair, isValid := range map[string]bool{
		"VECTOR_REQUIRE_HEALTHY=1": false, "VECTOR_REQUIRE_HEALTHY=true": true, "VECTOR_REQUIRE_HEALTHY=": false,
		"VECTOR_WATCH_CONFIG=yes": false, "VECTOR_WATCH_CONFIG=True": false, "VECTOR_WATCH_CONFIG=false": true,
		"VECTOR_ALLOW_EMPTY_CONFIG=": false, "VECTOR_OPENSSL_NO_PROBE=0": false, "VECTOR_RAISE_FD_LIMIT=on": false,
		"VECTOR_NO_GRACEFUL_SHUTDOWN_LIMIT=1": false, "VECTOR_DANGEROUSLY_ALLOW_ENV_VAR_INTERPOLATION=TRUE": false, "ALLOCATION_TRACING=1": false,
		"VECTOR_LOG_FORMAT=JSON": false, "VECTOR_LOG_FORMAT=json": true, "VECTOR_COLOR=no": false, "VECTOR_WATCH_CONFIG_METHOD=Poll": false,
		"VECTOR_GRACEFUL_SHUTDOWN_LIMIT_SECS=30s": false, "VECTOR_GRACEFUL_SHUTDOWN_LIMIT_SECS=0": false, "VECTOR_GRACEFUL_SHUTDOWN_LIMIT_SECS=030": true,
		"VECTOR_THREADS=two": false, "VECTOR_THREADS=1.5": false, "VECTOR_THREADS=-1": false, "VECTOR_THREADS= 2": false, "VECTOR_THREADS=4": true,
		"VECTOR_CHUNK_SIZE_EVENTS=0": false, "VECTOR_INTERNAL_LOG_RATE_LIMIT=10s": false, "VECTOR_INTERNAL_LOGS_SOURCE_RATE_LIMIT=0": false,
		"VECTOR_WATCH_CONFIG_POLL_INTERVAL_SECONDS=0": false, "VECTOR_MAX_DECOMPRESSED_SIZE_BYTES=1Gi": false,
		"VECTOR_CONFIG=": false, "VECTOR_CONFIG=/a.yaml,/b.yaml": true, "VECTOR_CONFIG_DIR=/a,": false, "VECTOR_CONFIG_YAML=": false,
		"VECTOR_LOG=": true, "VECTOR_LOG=inf": true, "VECTOR_LOG=WARN": true, "VECTOR_LOG=info,vector=debug": true, "VECTOR_LOG=vector=loud": false,
		"VECTOR_LOG=a=b=c": false, "VECTOR_LOG=vector=3": true, "VECTOR_LOG=vector=6": false, "VECTOR_LOG=a[{b]=info": false, "VECTOR_LOG=a[{b}]=info": true,
		"VECTOR_DISABLE_ENV_VAR_INTERPOLATION=1": true, // Which 0.57 does not read.
		"VECTOR_SELF_POD_NAME=":                  true, "OTHER=x": true,
	} {
		name, value, _ := strings.Cut(pair, "=")
		line := Parse(Input{Minor: Newest, Env: map[string]Text{name: {Value: value}}})
		require.Equal(t, isValid, len(line.Faults) == 0, pair)
		for _, fault := range line.Faults {
			require.Equal(t, name, fault.Name)
		}
		require.Empty(t, Parse(Input{Minor: Newest, Env: map[string]Text{name: {Value: value, IsOpen: true}}}).Faults, pair)
	}
}

// A flag is accepted for the Vector releases that have it, and rejected for all others.
func TestParse_RejectsFlagsOfOtherVectorReleases(t *testing.T) {
	for flag, want := range map[string][2]int{
		"--chunk-size-events=1":                     {57, 57},
		"--max-decompressed-size-bytes=1":           {57, 57},
		"--raise-fd-limit":                          {57, 57},
		"--internal-logs-source-rate-limit=1":       {57, 57},
		"--dangerously-allow-env-var-interpolation": {57, 57},
		"--disable-env-var-interpolation":           {52, 56},
		"--watch-config-method=poll":                {45, 57},
	} {
		for minor := Oldest; minor <= Newest; minor++ {
			line := Parse(Input{Minor: minor, Args: words(flag)})
			require.Equal(t, minor >= want[0] && minor <= want[1], len(line.Faults) == 0, "%s in 0.%d", flag, minor)
		}
	}
	line := Parse(Input{Minor: 50, Args: words("--disable-env-var-interpolation")})
	require.Equal(t, []Fault{{Name: "--disable-env-var-interpolation", IsUnknown: true, Releases: "0.52 to 0.56", Message: "Vector does not have the flag"}}, line.Faults)
}

// A flag takes precedence over its variable, which is not read then.
func TestParse_PrefersFlags(t *testing.T) {
	env := map[string]Text{"VECTOR_THREADS": {Value: "two"}, "VECTOR_CONFIG": {Value: "/b.yaml"}, "VECTOR_CONFIG_DIR": {Value: "/conf"}, "VECTOR_GRACEFUL_SHUTDOWN_LIMIT_SECS": {Value: "9"}}
	line := Parse(Input{Minor: Newest, Args: words("-t 2 --config /a.yaml --graceful-shutdown-limit-secs=7"), Env: env})
	require.Empty(t, line.Faults)
	require.Equal(t, []Source{{Path: Text{Value: "/a.yaml"}, Origin: "--config"}, {Path: Text{Value: "/conf"}, IsDirectory: true, Origin: "VECTOR_CONFIG_DIR"}}, line.Sources)
	n, isKnown := line.Number("graceful-shutdown-limit-secs")
	require.True(t, isKnown)
	require.EqualValues(t, 7, n)

	require.Equal(t, []string{"--no-graceful-shutdown-limit"}, names(Parse(Input{Minor: Newest, Args: words("--no-graceful-shutdown-limit"), Env: env}))[1:])
	require.Empty(t, Parse(Input{Minor: Newest, Args: words("--nope"), IsOtherProgram: true}).Faults)
	require.True(t, Parse(Input{Minor: Newest}).Sources[0].IsDefault)
	require.Empty(t, Parse(Input{Minor: Newest, HasMoreEnv: true}).Sources)
}

// Each case is a command line, and the files of the configuration that Vector reads with it.
func TestSource_FindsConfigurationFiles(t *testing.T) {
	for name, test := range map[string]struct {
		args, file, directory string
		want                  *Match
	}{
		"a file":                           {args: "--config /a.yaml", file: "/a.yaml", want: &Match{Format: "yaml"}},
		"another file":                     {args: "--config /a.yaml", file: "/b.yaml"},
		"one of several":                   {args: "--config /a.yaml,/b.toml", file: "/b.toml", want: &Match{Format: "toml"}},
		"a relative file":                  {args: "-c a.yaml", file: "/etc/vector/a.yaml", directory: "/etc/vector", want: &Match{Format: "yaml"}},
		"a file without extension":         {args: "-c /a", file: "/a", want: &Match{Format: "toml"}},
		"a file of another extension":      {args: "-c /a.conf", file: "/a.conf", want: &Match{Format: "toml"}},
		"the format by the flag":           {args: "--config-yaml /a.conf", file: "/a.conf", want: &Match{Format: "yaml"}},
		"JSON by the flag":                 {args: "--config-json /a.yaml", file: "/a.yaml", want: &Match{Format: "json"}},
		"TOML by the flag":                 {args: "--config-toml /a.yaml", file: "/a.yaml", want: &Match{Format: "toml"}},
		"a pattern":                        {args: "-c /c/*.yaml", file: "/c/a.yaml", want: &Match{Format: "yaml"}},
		"a pattern and a hidden file":      {args: "-c /c/*.yaml", file: "/c/.a.yaml", want: &Match{Format: "yaml"}},
		"a pattern and a deeper file":      {args: "-c /c/*.yaml", file: "/c/d/a.yaml"},
		"a pattern of directories":         {args: "-c /c/**/*.yaml", file: "/c/d/e/a.yaml", want: &Match{Format: "yaml"}},
		"a class":                          {args: "-c /c/[!b].yaml", file: "/c/a.yaml", want: &Match{Format: "yaml"}},
		"not in a class":                   {args: "-c /c/[!a].yaml", file: "/c/a.yaml"},
		"a backslash":                      {args: `-c /c/\*.yaml`, file: "/c/a.yaml"},
		"the default":                      {file: "/etc/vector/vector.yaml", want: &Match{Format: "yaml"}},
		"another one than the default":     {file: "/etc/vector/vector.toml"},
		"a directory":                      {args: "-C /c", file: "/c/a.yml", want: &Match{Format: "yaml", Directory: "/c", RelativePath: "a.yml"}},
		"a directory with a slash":         {args: "--config-dir /c/", file: "/c/a.json", want: &Match{Format: "json", Directory: "/c", RelativePath: "a.json"}},
		"several directories":              {args: "-C /b,/c", file: "/c/a.toml", want: &Match{Format: "toml", Directory: "/c", RelativePath: "a.toml"}},
		"a pattern of config directories":  {args: "-C /c*", file: "/c1/a.toml", want: &Match{Format: "toml", Directory: "/c1", RelativePath: "a.toml"}},
		"a hidden file of a directory":     {args: "-C /c", file: "/c/.a.yaml", want: &Match{Format: "yaml", Directory: "/c", RelativePath: ".a.yaml"}},
		"an extension alone":               {args: "-C /c", file: "/c/.yaml"},
		"no configuration in a directory":  {args: "-C /c", file: "/c/a.csv"},
		"a source":                         {args: "-C /c", file: "/c/sources/a.yaml", want: &Match{Format: "yaml", Directory: "/c", RelativePath: "sources/a.yaml"}},
		"a transform":                      {args: "-C /c", file: "/c/transforms/a.yaml", want: &Match{Format: "yaml", Directory: "/c", RelativePath: "transforms/a.yaml"}},
		"a sink":                           {args: "-C /c", file: "/c/sinks/a.toml", want: &Match{Format: "toml", Directory: "/c", RelativePath: "sinks/a.toml"}},
		"a test":                           {args: "-C /c", file: "/c/tests/a.yaml", want: &Match{Format: "yaml", Directory: "/c", RelativePath: "tests/a.yaml"}},
		"an enrichment table":              {args: "-C /c", file: "/c/enrichment_tables/a.yaml", want: &Match{Format: "yaml", Directory: "/c", RelativePath: "enrichment_tables/a.yaml"}},
		"another directory in a directory": {args: "-C /c", file: "/c/other/a.yaml"},
		"a secret backend":                 {args: "-C /c", file: "/c/secret/a.yaml"},
		"a nested source":                  {args: "-C /c", file: "/c/sources/b/a.yaml"},
		"a nested transform":               {args: "-C /c", file: "/c/transforms/b/c/a.yaml", want: &Match{Format: "yaml", Directory: "/c", RelativePath: "transforms/b/c/a.yaml"}},
		"a transform in a hidden one":      {args: "-C /c", file: "/c/transforms/.b/a.yaml"},
		"the directory of data":            {args: "-C /c", file: "/c/..data/a.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			var got *Match
			for _, source := range Parse(Input{Minor: Newest, Args: words(test.args)}).Sources {
				if match, isRead := source.Matches(test.file, test.directory); isRead {
					got = &match
				}
			}
			require.Equal(t, test.want, got)
		})
	}
}
