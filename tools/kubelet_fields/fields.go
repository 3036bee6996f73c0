// Copyright (c) 2026, nodebootstrap.eks contributors
// GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// node is one type in the tree: a leaf has a Type only.
type node struct {
	Type   string           `json:"type"`
	Go     string           `json:"go,omitempty"` // name of the Go field, which flags are bound to
	Fields map[string]*node `json:"fields,omitempty"`
	Items  *node            `json:"items,omitempty"`
}

// leaves are types that have a spelling of their own in JSON.
var leaves = map[string]string{
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":        "duration",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":            "time",
	"k8s.io/apimachinery/pkg/api/resource.Quantity":        "quantity",
	"k8s.io/apimachinery/pkg/api/resource.QuantityValue":   "quantity",
	"k8s.io/component-base/logs/api/v1.TimeOrMetaDuration": "duration_or_nanoseconds",
	"time.Duration": "nanoseconds",
}

type goType struct {
	expression ast.Expr
	file       *ast.File
}

type reader struct {
	modules  map[string]string
	packages map[string]map[string]goType
}

func newReader(modules map[string]string) *reader {
	return &reader{modules: modules, packages: map[string]map[string]goType{}}
}

func (r *reader) configuration() (*node, error) {
	return r.named("k8s.io/kubelet/config/v1beta1", "KubeletConfiguration")
}

// load parses the package with the import path and returns its type declarations.
func (r *reader) load(path string) (map[string]goType, error) {
	if types, ok := r.packages[path]; ok {
		return types, nil
	}
	dir := ""
	for module, where := range r.modules {
		if rest, ok := strings.CutPrefix(path, module+"/"); ok {
			dir = filepath.Join(where, rest)
		}
	}
	if dir == "" {
		return nil, fmt.Errorf("no module given for package %s", path)
	}
	types := map[string]goType{}
	parsed, err := parsePackage(dir)
	if err != nil {
		return nil, err
	}
	for _, file := range parsed {
		for _, spec := range specs(file, token.TYPE) {
			typed := spec.(*ast.TypeSpec)
			types[typed.Name.Name] = goType{typed.Type, file}
		}
	}
	r.packages[path] = types
	return types, nil
}

func (r *reader) named(path, name string) (*node, error) {
	if leaf, ok := leaves[path+"."+name]; ok {
		return &node{Type: leaf}, nil
	}
	types, err := r.load(path)
	if err != nil {
		return nil, err
	}
	declared, ok := types[name]
	if !ok {
		return nil, fmt.Errorf("package %s has no type %s", path, name)
	}
	return r.read(declared.expression, declared.file, path)
}

func (r *reader) read(expression ast.Expr, file *ast.File, path string) (*node, error) {
	switch typed := expression.(type) {
	case *ast.StarExpr:
		return r.read(typed.X, file, path)
	case *ast.ArrayType:
		items, err := r.read(typed.Elt, file, path)
		return &node{Type: "list", Items: items}, err
	case *ast.MapType:
		items, err := r.read(typed.Value, file, path)
		return &node{Type: "map", Items: items}, err
	case *ast.Ident:
		switch typed.Name {
		case "string", "bool", "int32", "int64", "uint32", "float64":
			return &node{Type: typed.Name}, nil
		}
		return r.named(path, typed.Name)
	case *ast.SelectorExpr:
		imported, err := importPath(file, typed.X.(*ast.Ident).Name)
		if err != nil {
			return nil, err
		}
		return r.named(imported, typed.Sel.Name)
	case *ast.StructType:
		return r.structure(typed, file, path)
	}
	return nil, fmt.Errorf("%s: cannot read %T", path, expression)
}

func (r *reader) structure(typed *ast.StructType, file *ast.File, path string) (*node, error) {
	result := &node{Type: "struct", Fields: map[string]*node{}}
	for _, field := range typed.Fields.List {
		tag := ""
		if field.Tag != nil {
			unquoted, err := strconv.Unquote(field.Tag.Value)
			if err != nil {
				return nil, err
			}
			tag = reflect.StructTag(unquoted).Get("json")
		}
		name, options, _ := strings.Cut(tag, ",")
		if name == "-" {
			continue
		}
		// Every KubeletConfiguration names its kind; the type's own package is apimachinery, of which nothing else is needed.
		if selector, ok := field.Type.(*ast.SelectorExpr); ok && selector.Sel.Name == "TypeMeta" {
			result.Fields["kind"] = &node{Type: "string"}
			result.Fields["apiVersion"] = &node{Type: "string"}
			continue
		}
		child, err := r.read(field.Type, file, path)
		if err != nil {
			return nil, err
		}
		if strings.Contains(options, "inline") || (len(field.Names) == 0 && name == "") {
			for key, value := range child.Fields {
				result.Fields[key] = value
			}
			continue
		}
		if name == "" {
			name = field.Names[0].Name
		}
		copied := *child
		copied.Go = field.Names[0].Name
		result.Fields[name] = &copied
	}
	return result, nil
}
