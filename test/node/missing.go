// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package node

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Missing is why there can be no node here: a line, with the command that helps.
type Missing string

func (m Missing) Error() string { return string(m) }

const install = "apt-get install --no-install-recommends containerd runc containernetworking-plugins iptables iproute2"

// system is what the machine has for a node.
type system struct {
	containerd, ctr, runc, ip string
	// iptables is the variant of iptables that works with this kernel.
	iptables string
	// plugins is the folder with the plugins for networks.
	plugins string
	// network is what it is to make.
	network *network
}

// find looks for what a node needs, and changes nothing.
func find() (*system, error) {
	if os.Geteuid() != 0 {
		return nil, Missing("a node needs root: run the same by sudo --preserve-env")
	}
	if all, err := hierarchies(); err != nil || len(all) == 0 {
		return nil, errors.Join(Missing("a node needs cgroups in /sys/fs/cgroup: mount -t cgroup2 none /sys/fs/cgroup"), err)
	}
	// The directories of root's programs, because sudo may keep another user's PATH.
	if err := os.Setenv("PATH", os.Getenv("PATH")+":/usr/local/sbin:/usr/sbin:/sbin"); err != nil {
		return nil, err
	}
	wanted, err := networkOf()
	if err != nil {
		return nil, err
	}
	s := &system{network: wanted}
	var missing []string
	for name, path := range map[string]*string{"containerd": &s.containerd, "ctr": &s.ctr, "runc": &s.runc, "ip": &s.ip} {
		found, err := exec.LookPath(name)
		if err != nil {
			missing = append(missing, name)
		}
		*path = found
	}
	for _, dir := range []string{"/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"} {
		if _, err := os.Stat(filepath.Join(dir, "ptp")); err == nil {
			s.plugins = dir
		}
	}
	if s.plugins == "" {
		missing = append(missing, "the CNI plugin ptp")
	}
	if _, err := exec.LookPath("iptables"); err != nil {
		missing = append(missing, "iptables")
	}
	if len(missing) > 0 {
		return nil, Missing(fmt.Sprintf("a node needs %s: %s", strings.Join(missing, ", "), install))
	}
	return s, nil
}

// tryKernel tries what a node needs of the kernel, in the namespaces that it runs in.
func (s *system) tryKernel() error {
	for _, name := range []string{"iptables", "iptables-legacy", "iptables-nft"} {
		if exec.Command(name, "--table=nat", "--list", "--numeric").Run() != nil {
			continue
		}
		path, err := exec.LookPath(name)
		if err != nil {
			return err
		}
		s.iptables = path
		break
	}
	if s.iptables == "" {
		return Missing("a node needs iptables, and this kernel has none: modprobe ip_tables")
	}
	for _, kind := range []string{"bridge", "veth"} {
		if printed, err := exec.Command(s.ip, "link", "add", "try", "type", kind).CombinedOutput(); err != nil {
			return Missing(fmt.Sprintf("a node needs links of type %s (%s): modprobe %s", kind, strings.TrimSpace(string(printed)), kind))
		}
		if err := exec.Command(s.ip, "link", "delete", "try").Run(); err != nil {
			return fmt.Errorf("deleting a link: %w", err)
		}
	}
	return nil
}
