// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// hostRules are the patterns of the hosts that the policy allows and denies.
type hostRules struct {
	Lists

	allow, deny []hostPattern
}

// hostPattern is a pattern of hosts: one name, all names below a name, one address, a range of addresses, or
// any host. It applies to one port, or to all ports if port is 0.
type hostPattern struct {
	text, name, domain string
	prefix             netip.Prefix
	isAny              bool
	port               int
}

// hostPort is a host in a text, as a name or an IP address, with its port. The port is 0 if the text does not
// contain a port.
type hostPort struct {
	name    string
	address netip.Addr
	port    int
}

// newHostRules parses the allowed and the denied hosts. It ignores invalid patterns, which Policy.Validate reports.
func newHostRules(lists Lists) hostRules {
	rules := hostRules{Lists: lists}
	for _, text := range lists.Allow {
		if pattern, err := parsePattern(text); err == nil {
			rules.allow = append(rules.allow, pattern)
		}
	}
	for _, text := range lists.Deny {
		if pattern, err := parsePattern(text); err == nil {
			rules.deny = append(rules.deny, pattern)
		}
	}
	return rules
}

// parsePattern parses a pattern: *, NAME, *.NAME, ADDRESS or ADDRESS/BITS. All forms except ADDRESS/BITS may
// end with :PORT.
func parsePattern(text string) (hostPattern, error) {
	pattern := hostPattern{text: text}
	if prefix, err := netip.ParsePrefix(text); err == nil {
		pattern.prefix = prefix.Masked()
		return pattern, nil
	}
	host := text
	if name, port, found := strings.Cut(text, ":"); found && !strings.Contains(port, ":") {
		number, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return pattern, fmt.Errorf("%q has no port after the colon", text)
		}
		host, pattern.port = name, int(number)
	}
	if pattern.isAny = host == "*"; pattern.isAny {
		return pattern, nil
	}
	domain, isBelow := strings.CutPrefix(host, "*.")
	target, err := parseHost(domain)
	switch {
	case err != nil:
		return pattern, fmt.Errorf("%q is not a valid host: %w", text, err)
	case isBelow && target.address.IsValid():
		return pattern, fmt.Errorf("%q is not a valid host: write a range of addresses as ADDRESS/BITS", text)
	case target.address.IsValid():
		pattern.prefix = netip.PrefixFrom(target.address, target.address.BitLen())
	case isBelow:
		pattern.domain = "." + target.name
	default:
		pattern.name = target.name
	}
	if target.port > 0 {
		pattern.port = target.port
	}
	return pattern, nil
}

// matches reports whether the pattern contains a host with its port.
func (p hostPattern) matches(target hostPort) bool {
	if p.port > 0 && p.port != target.port {
		return false
	}
	switch {
	case p.isAny:
		return true
	case p.prefix.IsValid():
		return target.address.IsValid() && p.prefix.Contains(target.address)
	case p.domain != "":
		return strings.HasSuffix(target.name, p.domain)
	}
	return target.name != "" && target.name == p.name
}

// rejectionReason returns the reason why the policy does not allow a host, or "" if it allows the host.
func (r hostRules) rejectionReason(target hostPort) string {
	for _, pattern := range r.deny {
		// A port that is not in the text may be the denied port.
		if target.port == 0 {
			pattern.port = 0
		}
		if pattern.matches(target) {
			return "the platform denies " + pattern.text
		}
	}
	for _, pattern := range r.allow {
		if pattern.matches(target) {
			return ""
		}
	}
	if len(r.allow) == 0 {
		return ""
	}
	return "the platform allows " + strings.Join(r.Allow, ", ")
}

// textRejectionReason returns the reason why the policy does not allow a host in a text, or "" if it allows all hosts
// in the text.
func (r hostRules) textRejectionReason(text string) string {
	if text == "" {
		return ""
	}
	hosts, err := parseHosts(text)
	if err != nil {
		return fmt.Sprintf("%q may be an address, but it cannot be checked: %s", text, err)
	}
	for _, target := range hosts {
		if reason := r.rejectionReason(target); reason != "" {
			return fmt.Sprintf("%q is not allowed: %s", text, reason)
		}
	}
	return ""
}

// defaultPorts are the default ports of URL schemes. A URL with another scheme must contain a port.
var defaultPorts = map[string]int{"http": 80, "ws": 80, "https": 443, "wss": 443}

var scheme = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*)://`)

// parseHosts returns the hosts in a text, which is a URL or HOST:PORT. The text may contain several hosts,
// separated by commas. parseHosts returns an error for a text that different programs may interpret
// differently.
func parseHosts(text string) ([]hostPort, error) {
	if strings.ContainsAny(text, "\\\r\n\t ") {
		return nil, errors.New("the value has whitespace or a backslash")
	}
	standard, authority := 0, text
	if match := scheme.FindStringSubmatch(text); match != nil {
		name := strings.ToLower(match[1])
		authority = text[len(match[0]):]
		if name == "unix" {
			return nil, nil // It stays in the pod.
		}
		standard = defaultPorts[name]
		if query := strings.ToLower(authority); standard == 0 && strings.Contains(query, "?") && strings.Contains(query, "host") {
			return nil, errors.New("the URL has a host after the question mark")
		}
	} else if strings.Contains(text, "//") || strings.Contains(text, "=") {
		return nil, errors.New("the value is not a valid URL or address")
	}
	if end := strings.IndexAny(authority, "/?#"); end >= 0 {
		authority = authority[:end]
	}
	switch strings.Count(authority, "@") {
	case 0:
	case 1:
		_, authority, _ = strings.Cut(authority, "@")
	default:
		return nil, errors.New("the URL has more than one @")
	}
	var hosts []hostPort
	for hostText := range strings.SplitSeq(authority, ",") {
		if schemePrefix := scheme.FindString(hostText); schemePrefix != "" {
			return nil, errors.New("a second URL follows a comma: write a list")
		}
		target, err := parseHost(hostText)
		if err != nil {
			return nil, err
		}
		if target.port == 0 {
			target.port = standard
		}
		hosts = append(hosts, target)
	}
	return hosts, nil
}

// label matches one part of a host name. It does not check the maximum length longestLabel, because a limit
// would make the compiled expression ten times as large.
var label = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$`)

const longestLabel = 63

// parseHost parses HOST or HOST:PORT. The name in the result is in lower case and has no dot at the end, so
// that hosts can be compared.
func parseHost(text string) (hostPort, error) {
	target, host := hostPort{}, text
	if inner, isBracketed := strings.CutPrefix(text, "["); isBracketed {
		var portSuffix string
		var isClosed bool
		if host, portSuffix, isClosed = strings.Cut(inner, "]"); !isClosed || portSuffix != "" && portSuffix[0] != ':' {
			return target, fmt.Errorf("%q is not a valid address", text)
		}
		if portSuffix != "" {
			host = "[" + host + "]" + portSuffix
		} else {
			host = "[" + host + "]"
		}
	}
	if colon := strings.LastIndexByte(host, ':'); colon >= 0 && !strings.HasSuffix(host, "]") && (strings.Count(host, ":") == 1 || host[0] == '[') {
		number, err := strconv.ParseUint(host[colon+1:], 10, 16)
		if err != nil || number == 0 {
			return target, fmt.Errorf("%q has no port after the colon", text)
		}
		host, target.port = host[:colon], int(number)
	}
	if address, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		if address.Zone() != "" {
			return target, fmt.Errorf("%q names a network interface", text)
		}
		target.address = address.Unmap()
		return target, nil
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	labels := strings.Split(host, ".")
	for _, labelText := range labels {
		if len(labelText) > longestLabel || !label.MatchString(labelText) {
			return target, fmt.Errorf("%q is not a valid host name: use letters, digits and hyphens, or punycode (xn--…)", text)
		}
	}
	if last := labels[len(labels)-1]; last[0] >= '0' && last[0] <= '9' {
		return target, fmt.Errorf("%q may be read as an address: write it with four numbers from 0 to 255", text)
	}
	target.name = host
	return target, nil
}
