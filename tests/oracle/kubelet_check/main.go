// Copyright (c) 2026, nodebootstrap.eks contributors
// GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

// kubelet_check reads lines of JSON from stdin and answers each with a line: what kubelet says of a configuration file, a drop-in
// and command line arguments before it talks to anything. All of it is kubelet's own code, in the order of its start: flags, file,
// drop-in, flags again, feature gates, validation, and the parsers that it calls when it makes its managers.
// glue.go, which names what differs between versions, is written by tests/oracle/kubelet_check.py.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/go-logr/logr"
	cadvisorapi "github.com/google/cadvisor/info/v1"
	"github.com/spf13/pflag"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/featuregate"
	_ "k8s.io/component-base/logs/json/register" // as kubelet's main does
	"k8s.io/klog/v2"
	"k8s.io/kubelet/config/v1beta1"
	"k8s.io/kubernetes/cmd/kubelet/app"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	kubeletscheme "k8s.io/kubernetes/pkg/kubelet/apis/config/scheme"
	defaults "k8s.io/kubernetes/pkg/kubelet/apis/config/v1beta1"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/memorymanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/eviction"
	evictionapi "k8s.io/kubernetes/pkg/kubelet/eviction/api"
	"k8s.io/kubernetes/pkg/kubelet/sysctl"
	netutils "k8s.io/utils/net"
)

type question struct {
	Gates     bool     `json:"gates"`     // answer with the feature gates
	Effective bool     `json:"effective"` // answer with the configuration as kubelet has it in the end
	Config    string   `json:"config"`
	DropIn    string   `json:"drop_in"`
	Args      []string `json:"args"`
	CPUs      int      `json:"cpus"`
	Memory    uint64   `json:"memory"`
}

type gateState struct {
	Default bool   `json:"default"`
	Locked  bool   `json:"locked"`
	Stage   string `json:"stage"`
}

type answer struct {
	Stage     string               `json:"stage,omitempty"`
	Error     string               `json:"error,omitempty"`
	Effective any                  `json:"effective,omitempty"`
	Gates     map[string]gateState `json:"gates,omitempty"`
}

var (
	pristine     = utilfeature.DefaultMutableFeatureGate
	evictionHard = maps.Clone(*defaultEvictionHard)
	folder       string
)

func main() {
	klog.SetLogger(logr.Discard())
	var err error
	if folder, err = os.MkdirTemp("", "kubelet_check"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	in, out := json.NewDecoder(bufio.NewReader(os.Stdin)), bufio.NewWriter(os.Stdout)
	answers := json.NewEncoder(out)
	for {
		var asked question
		if err := in.Decode(&asked); err == io.EOF {
			break
		} else if err != nil {
			panic(err)
		}
		if err := answers.Encode(ask(asked)); err != nil {
			panic(err)
		}
		// A question at a time is how tests talk to it, too.
		if err := out.Flush(); err != nil {
			panic(err)
		}
	}
}

func ask(asked question) (result answer) {
	gates := pristine.DeepCopy()
	// Older kubelets merge a drop-in into these, which does not matter, as there is only one start.
	defaults.DefaultNodeAllocatableEnforcement = []string{"pods"}
	*defaultEvictionHard = maps.Clone(evictionHard)
	utilfeature.DefaultMutableFeatureGate, utilfeature.DefaultFeatureGate = gates, gates
	if asked.Gates {
		result.Gates = map[string]gateState{}
		for name, spec := range gates.GetAll() {
			result.Gates[string(name)] = gateState{spec.Default, spec.LockToDefault, strings.ToLower(string(spec.PreRelease))}
		}
		return result
	}
	stage := "start"
	defer func() {
		if problem := recover(); problem != nil {
			result = answer{Stage: stage, Error: fmt.Sprint("panic: ", problem)}
		}
	}()
	kc, err := start(asked, &stage)
	if err != nil {
		return answer{Stage: stage, Error: err.Error()}
	}
	if asked.Effective {
		scheme, _, err := kubeletscheme.NewSchemeAndCodecs()
		if err != nil {
			panic(err)
		}
		external := &v1beta1.KubeletConfiguration{}
		if err := scheme.Convert(kc, external, nil); err != nil {
			panic(err)
		}
		result.Effective = external
	}
	return result
}

// start does what kubelet's command and its run do, as far as neither a machine nor a network is needed.
func start(asked question, stage *string) (*kubeletconfig.KubeletConfiguration, error) {
	*stage = "flags"
	flags := pflag.NewFlagSet("kubelet", pflag.ContinueOnError)
	flags.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	flags.SetOutput(io.Discard)
	kubeletFlags := options.NewKubeletFlags()
	kc, err := options.NewKubeletConfiguration()
	if err != nil {
		panic(err)
	}
	kubeletFlags.AddFlags(flags)
	options.AddKubeletConfigFlags(flags, kc)
	options.AddGlobalFlags(flags)
	if err := flags.Parse(asked.Args); err != nil {
		return nil, err
	}
	if words := flags.Args(); len(words) > 0 {
		return nil, fmt.Errorf("unknown command %s", words[0])
	}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(kc.FeatureGates); err != nil {
		return nil, err
	}
	if err := options.ValidateKubeletFlags(kubeletFlags); err != nil {
		return nil, err
	}

	*stage = "file"
	if asked.Config != "" {
		name := filepath.Join(folder, "config.json")
		if err := os.WriteFile(name, []byte(asked.Config), 0o600); err != nil {
			panic(err)
		}
		if kc, err = load(name); err != nil {
			return nil, err
		}
	}
	*stage = "drop-in"
	if asked.DropIn != "" {
		drop := filepath.Join(folder, "config.json.d")
		if err := os.MkdirAll(drop, 0o700); err != nil {
			panic(err)
		}
		if err := os.WriteFile(filepath.Join(drop, "50.conf"), []byte(asked.DropIn), 0o600); err != nil {
			panic(err)
		}
		if err := mergeDropIns(kc, drop); err != nil {
			return nil, err
		}
	}
	*stage = "gates"
	if err := flagPrecedence(kc, asked.Args); err != nil {
		return nil, err
	}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(kc.FeatureGates); err != nil {
		return nil, err
	}
	*stage = "validation"
	if err := validate(kc); err != nil {
		return nil, err
	}
	return kc, managers(kc, kubeletFlags, asked, stage)
}

func managers(kc *kubeletconfig.KubeletConfiguration, flags *options.KubeletFlags, asked question, stage *string) error {
	*stage = "TLS"
	if _, err := cliflag.TLSCipherSuites(kc.TLSCipherSuites); err != nil {
		return err
	}
	if _, err := cliflag.TLSVersion(kc.TLSMinVersion); err != nil {
		return err
	}
	if err := curves(kc); err != nil {
		return err
	}
	*stage = "authorization"
	if kc.Authorization.Mode != kubeletconfig.KubeletAuthorizationModeWebhook { // it needs an API server
		if _, err := app.BuildAuthz(nil, kc.Authorization); err != nil {
			return err
		}
	}
	*stage = "address"
	if netutils.ParseIPSloppy(kc.Address) == nil {
		return fmt.Errorf("kubelet cannot listen on %q", kc.Address)
	}
	*stage = "cgroup root"
	if kc.CgroupsPerQOS && kc.CgroupDriver == "systemd" {
		// The machine has every slice, except the ones that a node cannot have: no unit has the suffix twice.
		if slice := cm.ParseCgroupfsToCgroupName(kc.CgroupRoot).ToSystemd(); strings.Contains(slice, ".slice.slice") {
			return fmt.Errorf("cgroup %s does not exist", slice)
		}
	}
	*stage = "reserved"
	machine := twoNodes(asked.CPUs, asked.Memory)
	reservedCPUs, count, last, err := parseCPUs(kc.ReservedSystemCPUs)
	if err != nil {
		return err
	}
	if last >= asked.CPUs {
		return fmt.Errorf("reserved-cpus: %s is not a subset of online-cpus: 0-%d", kc.ReservedSystemCPUs, asked.CPUs-1)
	}
	if count > 0 {
		delete(kc.KubeReserved, "cpu")
		if kc.SystemReserved == nil {
			kc.SystemReserved = map[string]string{}
		}
		kc.SystemReserved["cpu"] = fmt.Sprint(count)
	}
	kubeReserved, err := parseResourceList(kc.KubeReserved)
	if err != nil {
		return fmt.Errorf("--kube-reserved: %w", err)
	}
	systemReserved, err := parseResourceList(kc.SystemReserved)
	if err != nil {
		return fmt.Errorf("--system-reserved: %w", err)
	}
	*stage = "eviction"
	hard, err := eviction.ParseThresholdConfig([]string{}, kc.EvictionHard, nil, nil, nil)
	if err != nil {
		return err
	}
	if _, err = eviction.ParseThresholdConfig(kc.EnforceNodeAllocatable, kc.EvictionHard, kc.EvictionSoft, kc.EvictionSoftGracePeriod, kc.EvictionMinimumReclaim); err != nil {
		return err
	}
	if _, err = cm.ParseQOSReserved(kc.QOSReserved); err != nil {
		return fmt.Errorf("--qos-reserved: %w", err)
	}
	*stage = "topology manager"
	if topologyOptions(kc) != nil && !enabled("TopologyManagerPolicyOptions") {
		return fmt.Errorf("topology manager policy options require a feature gate")
	}
	if kc.CPUManagerPolicyOptions != nil && !enabled("CPUManagerPolicyOptions") {
		return fmt.Errorf("CPU manager policy options require a feature gate")
	}
	topology, err := call(topologymanager.NewManager, machine.Topology, kc.TopologyManagerPolicy, kc.TopologyManagerScope, topologyOptions(kc))
	if err != nil {
		return err
	}
	capacity := v1.ResourceList{
		v1.ResourceCPU:    *resource.NewQuantity(int64(asked.CPUs), resource.DecimalSI),
		v1.ResourceMemory: *resource.NewQuantity(int64(asked.Memory), resource.BinarySI),
	}
	reservation := v1.ResourceList{}
	for name, all := range capacity {
		sum := resource.NewQuantity(0, resource.DecimalSI)
		sum.Add(kubeReserved[name])
		sum.Add(systemReserved[name])
		for _, threshold := range hard {
			if name == v1.ResourceMemory && threshold.Signal == evictionapi.SignalMemoryAvailable {
				sum.Add(*evictionapi.GetThresholdQuantity(threshold.Value, &all))
			}
		}
		if !sum.IsZero() {
			reservation[name] = *sum
		}
	}
	*stage = "CPU manager"
	if _, err = call(cpumanager.NewManager, kc.CPUManagerPolicy, kc.CPUManagerPolicyOptions, kc.CPUManagerReconcilePeriod.Duration,
		machine, reservedCPUs, reservation, folder, topology); err != nil {
		return err
	}
	*stage = "memory manager"
	if _, err = call(memorymanager.NewManager, kc.MemoryManagerPolicy, machine, reservation, kc.ReservedMemory, folder, topology); err != nil {
		return err
	}
	*stage = "container logs"
	size, err := resource.ParseQuantity(kc.ContainerLogMaxSize)
	if err != nil {
		return err
	}
	if _, exact := size.AsInt64(); !exact {
		return fmt.Errorf("invalid max log size")
	}
	*stage = "sysctls"
	if _, err = sysctl.NewAllowlist(kc.AllowedUnsafeSysctls); err != nil {
		return err
	}
	return nil
}

// twoNodes is a machine with two NUMA nodes, which share its CPUs and memory.
func twoNodes(cpus int, memory uint64) *cadvisorapi.MachineInfo {
	machine := &cadvisorapi.MachineInfo{NumCores: cpus, NumPhysicalCores: cpus, NumSockets: 1, MemoryCapacity: memory}
	for id := 0; id < 2; id++ {
		node := cadvisorapi.Node{Id: id, Memory: memory / 2}
		for cpu := id; cpu < cpus; cpu += 2 {
			node.Cores = append(node.Cores, cadvisorapi.Core{Id: cpu, Threads: []int{cpu}})
		}
		// Older versions do not have the field.
		if distances := reflect.ValueOf(&node).Elem().FieldByName("Distances"); distances.IsValid() {
			distances.Set(reflect.ValueOf([][]uint64{{10, 20}, {20, 10}}[id]))
		}
		machine.Topology = append(machine.Topology, node)
	}
	return machine
}

func enabled(name string) bool {
	if _, known := utilfeature.DefaultMutableFeatureGate.GetAll()[featuregate.Feature(name)]; !known {
		return true
	}
	return utilfeature.DefaultFeatureGate.Enabled(featuregate.Feature(name))
}

// call passes each parameter of function the next value of its type; versions differ in which parameters they have.
func call(function any, values ...any) (any, error) {
	typed := reflect.TypeOf(function)
	used := make([]bool, len(values))
	arguments := []reflect.Value{}
	for index := 0; index < typed.NumIn(); index++ {
		wanted, found := typed.In(index), false
		for position, value := range values {
			if !used[position] && value != nil && reflect.TypeOf(value).AssignableTo(wanted) {
				arguments, used[position], found = append(arguments, reflect.ValueOf(value)), true, true
				break
			}
		}
		if !found && wanted == reflect.TypeOf(klog.Background()) {
			arguments, found = append(arguments, reflect.ValueOf(klog.Background())), true
		}
		if !found {
			arguments = append(arguments, reflect.Zero(wanted))
		}
	}
	results := reflect.ValueOf(function).Call(arguments)
	if problem := results[len(results)-1]; !problem.IsNil() {
		return nil, problem.Interface().(error)
	}
	return results[0].Interface(), nil
}
