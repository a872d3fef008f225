// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	vectorflags "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/flags"
	vectoroptions "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/options"
)

// forms writes a configuration in each format that Vector reads.
func forms(t *testing.T, config map[string]any) map[string]string {
	t.Helper()
	inYAML, err := yaml.Marshal(config)
	require.NoError(t, err)
	inJSON, err := json.MarshalIndent(config, "", "  ")
	require.NoError(t, err)
	inTOML, err := toml.Marshal(config)
	require.NoError(t, err)
	return map[string]string{"vector.yaml": string(inYAML), "vector.json": string(inJSON), "vector.toml": string(inTOML)}
}

// refusals are the messages of what is not permitted, each behind its code and path.
func refusals(t *testing.T, permitted Policy, image string, container *Container, files ...File) []string {
	t.Helper()
	require.NoError(t, permitted.Validate())
	report, err := reader().Check(t.Context(), files, Options{Image: image, Container: container, Policy: permitted})
	require.NoError(t, err)
	var all []string
	for _, f := range Forbidden(report.Findings) {
		require.Equal(t, Error, f.Level)
		all = append(all, strings.TrimSpace(string(f.Code)+" "+f.Path+": "+f.Message))
	}
	return all
}

type object = map[string]any

// withSink is a configuration of a sink and, if need be, more.
func withSink(sink object, more ...object) object {
	config := object{
		"sources": object{"in": object{"type": "demo_logs", "format": "json"}},
		"sinks":   object{"out": sink},
	}
	sink["inputs"] = []any{"in"}
	for _, one := range more {
		maps.Copy(config, one)
	}
	return config
}

// Each case is a policy and a Vector configuration, and the findings of the policy check.
func TestPolicy_RejectsForbiddenSettings(t *testing.T) {
	onlyExample := Policy{Hosts: Lists{Allow: []string{"*.example.com", "10.0.0.0/8"}}}
	http := func(uri string) object {
		return withSink(object{"type": "http", "uri": uri, "encoding": object{"codec": "json"}})
	}
	host := func(text string) string {
		return `VSC603 sinks.out.uri: "` + text + `" is not allowed: the platform allows *.example.com, 10.0.0.0/8`
	}
	unclear := func(text, why string) string {
		return `VSC603 sinks.out.uri: "` + text + `" may be an address, but it cannot be checked: ` + why
	}
	const notLiteralURI = "VSC604 sinks.out.uri: hosts are restricted, and the value is not literal"
	for name, test := range map[string]struct {
		permitted Policy
		config    object
		want      []string
	}{
		"nothing is restricted":      {Policy{}, http("https://evil.test"), nil},
		"a type that is allowed":     {Policy{Types: Lists{Allow: []string{"sources.*", "sinks.http"}}}, http("https://evil.test"), nil},
		"a type that is not allowed": {Policy{Types: Lists{Allow: []string{"sources.*", "sinks.loki"}}}, http("https://evil.test"), []string{"VSC601 sinks.out.type: the component type sinks.http is not allowed: the platform allows sources.*, sinks.loki"}},
		"a type that is denied":      {Policy{Types: Lists{Allow: []string{"sources.*", "sinks.*"}, Deny: []string{"sinks.http"}}}, http("https://evil.test"), []string{"VSC601 sinks.out.type: the component type sinks.http is not allowed: the platform denies sinks.http"}},
		"an earlier name of a type": {
			Policy{Types: Lists{Deny: []string{"sinks.greptimedb_metrics"}}}, withSink(object{"type": "greptimedb", "endpoint": "x.example.com:4001"}),
			[]string{"VSC601 sinks.out.type: the component type sinks.greptimedb is not allowed: the platform denies sinks.greptimedb_metrics"},
		},
		"a type of secrets": {
			Policy{Types: Lists{Deny: []string{"secret.exec"}}}, withSink(object{"type": "blackhole"}, object{"secret": object{"b": object{"type": "exec", "command": []any{"/bin/sh"}}}}),
			[]string{"VSC601 secret.b.type: the component type secret.exec is not allowed: the platform denies secret.exec"},
		},
		"a type that is a secret": {Policy{Types: Lists{Deny: []string{"sinks.http"}}}, withSink(object{"type": "SECRET[b.k]"}), []string{"VSC604 sinks.out: sinks.out does not have a literal type, so the policy cannot check it"}},
		"a provider":              {Policy{Types: Lists{Deny: []string{"sinks.http"}}}, object{"provider": object{"type": "http", "url": "https://evil.test"}}, []string{"VSC605 provider: a provider provides a configuration that the policy cannot check"}},

		"an option that is denied": {
			Policy{Options: Lists{Deny: []string{"sinks.*.tls.verify_certificate"}}},
			withSink(object{"type": "http", "uri": "https://evil.test", "encoding": object{"codec": "json"}, "tls": object{"verify_certificate": false}}),
			[]string{"VSC602 sinks.out.tls.verify_certificate: the option is not allowed: the platform denies sinks.*.tls.verify_certificate"},
		},
		"what is below one that is denied": {
			Policy{Options: Lists{Deny: []string{"proxy"}}}, withSink(object{"type": "blackhole"}, object{"proxy": object{"http": "http://evil.test"}}),
			[]string{"VSC602 proxy: the option is not allowed: the platform denies proxy"},
		},
		"an option under its other name": {
			Policy{Options: Lists{Deny: []string{"sinks.pulsar.endpoint"}}}, withSink(object{"type": "pulsar", "address": "pulsar://evil.test:6650", "topic": "t", "encoding": object{"codec": "json"}}),
			[]string{"VSC602 sinks.out.address: the option is not allowed: the platform denies sinks.pulsar.endpoint"},
		},
		"an option that is not among those allowed": {
			Policy{Options: Lists{Allow: []string{"sinks.http.uri", "sinks.http.encoding.codec"}}},
			withSink(object{"type": "http", "uri": "https://evil.test", "encoding": object{"codec": "json", "except_fields": []any{"a"}}, "method": "put"}),
			[]string{
				"VSC602 sinks.out.encoding.except_fields: the option is not allowed: the platform allows sinks.http.uri, sinks.http.encoding.codec",
				"VSC602 sinks.out.method: the option is not allowed: the platform allows sinks.http.uri, sinks.http.encoding.codec",
			},
		},

		"a host that is allowed":           {onlyExample, http("https://logs.example.com/in"), nil},
		"another host":                     {onlyExample, http("https://evil.test/in"), []string{host("https://evil.test/in")}},
		"the name itself, not one below":   {onlyExample, http("https://example.com"), []string{host("https://example.com")}},
		"a name that ends alike":           {onlyExample, http("https://evilexample.com"), []string{host("https://evilexample.com")}},
		"the host as another's beginning":  {onlyExample, http("https://logs.example.com.evil.test"), []string{host("https://logs.example.com.evil.test")}},
		"upper case":                       {onlyExample, http("HTTPS://Logs.EXAMPLE.com"), nil},
		"a dot at the end":                 {onlyExample, http("https://logs.example.com./in"), nil},
		"a dot at the end of another":      {onlyExample, http("https://evil.test."), []string{host("https://evil.test.")}},
		"a user in front":                  {onlyExample, http("https://logs.example.com@evil.test"), []string{host("https://logs.example.com@evil.test")}},
		"a user and a password":            {onlyExample, http("https://a:b@logs.example.com"), nil},
		"two users":                        {onlyExample, http("https://a@evil.test@logs.example.com"), []string{unclear("https://a@evil.test@logs.example.com", "the URL has more than one @")}},
		"a backslash":                      {onlyExample, http(`https://evil.test\.example.com`), []string{`VSC603 sinks.out.uri: "https://evil.test\\.example.com" may be an address, but it cannot be checked: the value has whitespace or a backslash`}},
		"the host behind a fragment":       {onlyExample, http("https://evil.test#@logs.example.com"), []string{host("https://evil.test#@logs.example.com")}},
		"the host behind a question mark":  {onlyExample, http("https://evil.test?@logs.example.com"), []string{host("https://evil.test?@logs.example.com")}},
		"an address in a range":            {onlyExample, http("http://10.1.2.3:8080"), nil},
		"an address outside of it":         {onlyExample, http("http://11.1.2.3"), []string{host("http://11.1.2.3")}},
		"an address as one number":         {onlyExample, http("http://184549379"), []string{unclear("http://184549379", `"184549379" may be read as an address: write it with four numbers from 0 to 255`)}},
		"an address in base 16":            {onlyExample, http("http://0x0b.1.2.3"), []string{unclear("http://0x0b.1.2.3", `"0x0b.1.2.3" may be read as an address: write it with four numbers from 0 to 255`)}},
		"an address of version 6":          {onlyExample, http("http://[2001:db8::1]:80"), []string{host("http://[2001:db8::1]:80")}},
		"version 4 in version 6":           {onlyExample, http("http://[::ffff:10.1.2.3]"), nil},
		"version 4 in version 6, outside":  {onlyExample, http("http://[::ffff:11.1.2.3]"), []string{host("http://[::ffff:11.1.2.3]")}},
		"a name in another script":         {onlyExample, http("https://lоgs.example.com"), []string{unclear("https://lоgs.example.com", `"lоgs.example.com" is not a valid host name: use letters, digits and hyphens, or punycode (xn--…)`)}},
		"characters in percents":           {onlyExample, http("https://evil%2etest"), []string{unclear("https://evil%2etest", `"evil%2etest" is not a valid host name: use letters, digits and hyphens, or punycode (xn--…)`)}},
		"a field in the host":              {onlyExample, http("https://{{ host }}.example.com"), []string{notLiteralURI}},
		"a field in the path":              {onlyExample, http("https://logs.example.com/{{ path }}"), []string{notLiteralURI}},
		"a secret":                         {onlyExample, http("SECRET[b.k]"), []string{notLiteralURI}},
		"a proxy":                          {onlyExample, withSink(object{"type": "http", "uri": "https://logs.example.com", "encoding": object{"codec": "json"}, "proxy": object{"https": "http://evil.test:3128"}}), []string{`VSC603 sinks.out.proxy.https: "http://evil.test:3128" is not allowed: the platform allows *.example.com, 10.0.0.0/8`}},
		"a proxy for all":                  {onlyExample, withSink(object{"type": "blackhole"}, object{"proxy": object{"http": "http://evil.test:3128"}}), []string{`VSC603 proxy.http: "http://evil.test:3128" is not allowed: the platform allows *.example.com, 10.0.0.0/8`}},
		"a health check elsewhere":         {onlyExample, withSink(object{"type": "http", "uri": "https://logs.example.com", "encoding": object{"codec": "json"}, "healthcheck": object{"uri": "https://evil.test"}}), []string{`VSC603 sinks.out.healthcheck.uri: "https://evil.test" is not allowed: the platform allows *.example.com, 10.0.0.0/8`}},
		"a header that names another host": {onlyExample, withSink(object{"type": "http", "uri": "https://logs.example.com", "encoding": object{"codec": "json"}, "request": object{"headers": object{"HOST": "evil.test", "x-a": "b"}}}), []string{`VSC603 sinks.out.request.headers.HOST: "evil.test" is not allowed: the platform allows *.example.com, 10.0.0.0/8`}},
		"where a token is asked for": {
			onlyExample,
			withSink(object{"type": "pulsar", "endpoint": "pulsar://p.example.com:6650", "topic": "t", "encoding": object{"codec": "json"}, "auth": object{"oauth2": object{"issuer_url": "https://evil.test", "credentials_url": "https://c.example.com"}}}),
			[]string{`VSC603 sinks.out.auth.oauth2.issuer_url: "https://evil.test" is not allowed: the platform allows *.example.com, 10.0.0.0/8`},
		},
		"one of several": {
			onlyExample, withSink(object{"type": "elasticsearch", "endpoints": []any{"https://a.example.com", "https://evil.test"}}),
			[]string{`VSC603 sinks.out.endpoints[1]: "https://evil.test" is not allowed: the platform allows *.example.com, 10.0.0.0/8`},
		},
		"several in one text": {
			onlyExample, withSink(object{"type": "kafka", "bootstrap_servers": "a.example.com:9092,evil.test:9092", "topic": "t", "encoding": object{"codec": "json"}}),
			[]string{`VSC603 sinks.out.bootstrap_servers: "a.example.com:9092,evil.test:9092" is not allowed: the platform allows *.example.com, 10.0.0.0/8`},
		},
		"an option of a library that names them again": {
			onlyExample, withSink(object{"type": "kafka", "bootstrap_servers": "a.example.com:9092", "topic": "t", "encoding": object{"codec": "json"}, "librdkafka_options": object{"bootstrap.servers": "evil.test:9092"}}),
			[]string{`VSC603 sinks.out.librdkafka_options.bootstrap.servers: "evil.test:9092" is not allowed: the platform allows *.example.com, 10.0.0.0/8`},
		},
		"an endpoint in place of the service's own": {
			onlyExample, withSink(object{"type": "aws_s3", "region": "eu-west-1", "bucket": "b", "endpoint": "https://s3.evil.test", "encoding": object{"codec": "json"}}),
			[]string{`VSC603 sinks.out.endpoint: "https://s3.evil.test" is not allowed: the platform allows *.example.com, 10.0.0.0/8`},
		},
		"no endpoint at all": {
			onlyExample, withSink(object{"type": "aws_s3", "region": "eu-west-1", "bucket": "b", "encoding": object{"codec": "json"}}),
			[]string{"VSC603 sinks.out: the component connects to the default address of the service, which the policy cannot check: name the host, or use another type"},
		},
		"a socket":                {onlyExample, withSink(object{"type": "socket", "mode": "tcp", "address": "evil.test:9000", "encoding": object{"codec": "json"}}), []string{`VSC603 sinks.out.address: "evil.test:9000" is not allowed: the platform allows *.example.com, 10.0.0.0/8`}},
		"a socket of the pod":     {onlyExample, withSink(object{"type": "socket", "mode": "unix", "path": "/run/s", "encoding": object{"codec": "json"}}), nil},
		"an address to listen on": {onlyExample, withSink(object{"type": "prometheus_exporter", "address": "0.0.0.0:9598"}), nil},
		"a source that asks": {
			onlyExample, withSink(object{"type": "blackhole"}, object{"sources": object{"in": object{"type": "http_client", "endpoint": "https://evil.test"}}}),
			[]string{`VSC603 sources.in.endpoint: "https://evil.test" is not allowed: the platform allows *.example.com, 10.0.0.0/8`},
		},
		"a source that listens": {onlyExample, withSink(object{"type": "blackhole"}, object{"sources": object{"in": object{"type": "http_server", "address": "0.0.0.0:8080"}}}), nil},
		"an option that nobody knows": {
			onlyExample, withSink(object{"type": "blackhole", "mirror": "evil.test:1"}),
			[]string{`VSC603 sinks.out.mirror: "evil.test:1" is not allowed: the platform allows *.example.com, 10.0.0.0/8`},
		},
		"a program that asks": {
			onlyExample, withSink(object{"type": "blackhole"}, object{"transforms": object{"t": object{"type": "remap", "inputs": []any{"in"}, "source": `.a = http_request!("https://evil.test")`}}}),
			[]string{"VSC603 transforms.t.source: the VRL program calls http_request, which connects to a host that the policy cannot check"},
		},
		"a program of a file": {
			onlyExample, withSink(object{"type": "blackhole"}, object{"transforms": object{"t": object{"type": "remap", "inputs": []any{"in"}, "file": "a.example.com"}}}),
			[]string{"VSC605 transforms.t.file: the VRL program in the file may connect to a host that the policy cannot check: write it as source"},
		},
		"a secret backend that the platform has not named": {
			onlyExample, withSink(object{"type": "blackhole"}, object{"secret": object{"b": object{"type": "file", "path": "/s"}}}),
			[]string{"VSC605 secret.b: Vector inserts the values of the backend into the text of the configuration before it reads the configuration: if options or hosts are restricted, vector.types.allow has to name the backend"},
		},
		"a secret backend that it has named": {
			Policy{Types: Lists{Allow: []string{"sources.*", "sinks.*", "secret.file"}}, Hosts: onlyExample.Hosts},
			withSink(object{"type": "blackhole"}, object{"secret": object{"b": object{"type": "file", "path": "/s"}}}), nil,
		},
		"a port that is not the one allowed": {
			Policy{Hosts: Lists{Allow: []string{"logs.example.com:443"}}}, http("http://logs.example.com"),
			[]string{`VSC603 sinks.out.uri: "http://logs.example.com" is not allowed: the platform allows logs.example.com:443`},
		},
		"a port by its scheme": {Policy{Hosts: Lists{Allow: []string{"logs.example.com:443"}}}, http("https://logs.example.com"), nil},
		"a host that is denied": {
			Policy{Hosts: Lists{Deny: []string{"169.254.169.254"}}}, http("http://169.254.169.254/latest"),
			[]string{`VSC603 sinks.out.uri: "http://169.254.169.254/latest" is not allowed: the platform denies 169.254.169.254`},
		},
		"what Vector itself allows": {onlyExample, withSink(object{"type": "blackhole"}, object{"wildcard_matching": "relaxed", "timezone": "Europe/Berlin", "data_dir": "/d", "api": object{"enabled": true, "address": "127.0.0.1:8686"}}), nil},
	} {
		for file, text := range forms(t, test.config) {
			t.Run(name+"/"+file, func(t *testing.T) {
				want := slices.Clone(test.want)
				got := refusals(t, test.permitted, "vector:0.57.0", nil, File{Name: file, Text: text})
				slices.Sort(want)
				slices.Sort(got)
				require.Equal(t, want, got)
			})
		}
	}
}

// Variables are replaced before parsing. The policy applies to the resulting text, and an unknown variable may have
// any value.
func TestPolicy_AppliesToVariables(t *testing.T) {
	permitted := Policy{Hosts: Lists{Allow: []string{"*.example.com"}}}
	const config = "sources: {in: {type: demo_logs, format: json}}\nsinks:\n  out:\n    type: http\n    inputs: [in]\n    encoding: {codec: json}\n    uri: %s\n"
	file := func(uri string) File { return File{Name: "vector.yaml", Text: strings.Replace(config, "%s", uri, 1)} }
	known := &Container{Env: map[string]vectorflags.Text{"HOST": {Value: "evil.test"}, "GOOD": {Value: "logs.example.com"}}}

	require.Equal(t, []string{"VSC604 sinks.out.uri: hosts are restricted, and the value is not literal"},
		refusals(t, permitted, "vector:0.56.0", known, file("https://${HOST}")))
	require.Equal(t, []string{"VSC604 sinks.out.uri: hosts are restricted, and the value is not literal"},
		refusals(t, permitted, "vector:0.56.0", known, file("https://${GOOD}")))
	require.Equal(t, []string{`VSC603 sinks.out.uri: "https://${HOST}" may be an address, but it cannot be checked: "${HOST}" is not a valid host name: use letters, digits and hyphens, or punycode (xn--…)`},
		refusals(t, permitted, "vector:0.57.0", known, file("https://${HOST}")), "it stays as it is, and is no host")

	unknown := &Container{Env: map[string]vectorflags.Text{"X": openText}, OpenEnv: true}
	found := refusals(t, permitted, "vector:0.56.0", unknown, file("https://logs.example.com # ${X}"))
	require.Equal(t, []string{": variable ${X} is replaced by an unknown string, which may add anything to the configuration"}, []string{strings.TrimPrefix(found[0], "VSC604 ")})
}

// A key from a YAML merge or a secret has another path than its text shows. The policy rejects such keys.
func TestPolicy_RequiresLiteralKeys(t *testing.T) {
	permitted := Policy{Options: Lists{Deny: []string{"sinks.http.uri"}}}
	for _, key := range []string{"<<: {uri: 'https://evil.test'}", "'<<': {uri: 'https://evil.test'}", "<<: {<<: {uri: 'https://evil.test'}}", "SECRET[a.b]: x"} {
		text := "sources: {in: {type: demo_logs, format: json}}\nsinks:\n  out:\n    type: http\n    inputs: [in]\n    encoding: {codec: json}\n    " + key + "\n"
		require.NotEmpty(t, refusals(t, permitted, "vector:0.57.0", nil, File{Name: "vector.yaml", Text: text}), key)
	}
}

// A configuration that cannot be parsed may contain anything, so the policy rejects it.
func TestPolicy_RejectsUnreadableConfiguration(t *testing.T) {
	permitted := Policy{Types: Lists{Deny: []string{"sinks.http"}}}
	require.Equal(t, []string{"VSC605 : the configuration cannot be read, so the policy cannot check it"},
		refusals(t, permitted, "vector:0.57.0", nil, File{Name: "vector.yaml", Text: "sinks: ["}))
}

// A violation of the policy is reported also if a configuration has a hundred other errors.
func TestPolicy_ReportsViolationDespiteManyFindings(t *testing.T) {
	var text strings.Builder
	text.WriteString("sources: {in: {type: demo_logs, format: json}}\nsinks:\n")
	for i := range 2 * mostFindings {
		text.WriteString("  s" + itoa(i) + ": {type: nosuch, inputs: [in]}\n")
	}
	text.WriteString("  out: {type: http, inputs: [in], uri: 'https://evil.test', encoding: {codec: json}}\n")
	permitted := Policy{Types: Lists{Deny: []string{"sinks.http"}}}
	require.Len(t, refusals(t, permitted, "vector:0.57.0", nil, File{Name: "vector.yaml", Text: text.String()}), 1)
}

// Each string option of all components and releases is classified as an address or not. An option that is not
// classified counts as an address.
func TestPermittedChecker_ClassifiesEachOption(t *testing.T) {
	w := &permittedChecker{checker: &checker{tables: tables()}}
	found := map[string]bool{}
	var look func(section, name string, steps []string, object *vectoroptions.Object)
	value := func(of optionLocation, form vectoroptions.Form) {
		if form.Kind == "string" && len(form.Values()) == 0 && w.mayBeAddress(of) {
			found[strings.Join(of.steps, ".")] = true
		}
		if below := form.Object(); below != nil {
			look(of.section, of.names[0], of.steps, below)
		}
	}
	look = func(section, name string, steps []string, object *vectoroptions.Object) {
		if len(steps) > 6 {
			return
		}
		for _, option := range object.Options {
			of := optionLocation{section: section, names: []string{name}, steps: append(slices.Clone(steps), option.Name)}
			for _, form := range option.Forms {
				value(of, form)
				for _, item := range form.Items() {
					value(of, item)
				}
			}
		}
	}
	for minor := vectoroptions.Oldest; minor <= vectoroptions.Newest; minor++ {
		for _, section := range []string{"sources", "transforms", "sinks"} {
			for _, name := range vectoroptions.Names(minor, section) {
				look(section, name, nil, vectoroptions.Component(minor, section, name))
			}
		}
	}
	globals := vectoroptions.Globals()
	for _, option := range globals.Options {
		switch {
		case option.Name == "tests" || option.Name == "provider":
			continue // The one is not run, the other refused.
		case slices.Contains(typedSections, option.Name):
			look(option.Name, "*", nil, option.Forms[0].Object().Option("*").Forms[0].Object())
			continue
		}
		only := vectoroptions.Object{Options: []vectoroptions.Option{option}}
		look("global", "vector", nil, &only)
	}
	require.Equal(t, strings.Fields(addresses), slices.Sorted(maps.Keys(found)))
}

const addresses = `
	address auth.oauth2.credentials_url auth.oauth2.issuer_url aws.endpoint blob_endpoint bootstrap_servers connection_string
	docker_host domain endpoint endpoints environment.* file files healthcheck.uri
	healthcheck_uri host hosts ingestion_endpoint librdkafka_options.* protocol.uri proxy.http proxy.https queue_url
	routing.endpoints site sqs.deferred.queue_url sqs.queue_url unity_catalog_endpoint uri url`

// The policy lists hosts in an invalid form. That is an error when the policy is loaded.
func TestPolicy_RejectsInvalidHosts(t *testing.T) {
	for text, want := range map[string]string{
		"https://a.example.com": `vector.hosts: "https://a.example.com" has no port after the colon`,
		"a..b":                  `vector.hosts: "a..b" is not a valid host: "a..b" is not a valid host name: use letters, digits and hyphens, or punycode (xn--…)`,
		"*.10.0.0.1":            `vector.hosts: "*.10.0.0.1" is not a valid host: write a range of addresses as ADDRESS/BITS`,
		"a:0x":                  `vector.hosts: "a:0x" has no port after the colon`,
	} {
		require.EqualError(t, (&Policy{Hosts: Lists{Allow: []string{text}}}).Validate(), want)
	}
	require.Error(t, (&Policy{Types: Lists{Deny: []string{"http"}}}).Validate())
	require.Error(t, (&Policy{Options: Lists{Deny: []string{"sinks.http"}}}).Validate())
	require.Error(t, (&Policy{Options: Lists{Deny: []string{"nosuch"}}}).Validate())
}
