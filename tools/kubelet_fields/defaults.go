// Copyright (c) 2026, nodebootstrap.eks contributors
// GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
)

// defaulted is a field that kubelet's defaulting function sets.
type defaulted struct {
	When  string `json:"when"`           // what it compares the field with: nil, zeroDuration, 0 or ""
	Value string `json:"value"`          // the Go expression it assigns
	Gate  string `json:"gate,omitempty"` // the feature gate that has to be on
}

// defaults reads SetDefaults_KubeletConfiguration in a file: Go path of each field → what it is set to.
func defaults(name string) (map[string]*defaulted, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	show := func(node ast.Node) string {
		var text bytes.Buffer
		_ = printer.Fprint(&text, set, node)
		return text.String()
	}
	found := map[string]*defaulted{}
	var read func(statements []ast.Stmt, gate string)
	read = func(statements []ast.Stmt, gate string) {
		for _, statement := range statements {
			condition, ok := statement.(*ast.IfStmt)
			if !ok {
				continue
			}
			inner := gate
			if call, ok := condition.Cond.(*ast.CallExpr); ok && called(call) == "Enabled" {
				inner = last(call.Args[0])
				read(condition.Body.List, inner)
				continue
			}
			comparison, ok := condition.Cond.(*ast.BinaryExpr)
			if !ok {
				continue
			}
			for comparison.Op == token.LOR {
				comparison = comparison.X.(*ast.BinaryExpr)
			}
			if comparison.Op != token.EQL || len(condition.Body.List) == 0 {
				continue
			}
			field := below(comparison.X)
			if assignment, ok := condition.Body.List[0].(*ast.AssignStmt); ok && below(assignment.Lhs[0]) == field {
				found[field] = &defaulted{When: show(comparison.Y), Value: show(assignment.Rhs[0]), Gate: gate}
			} else {
				found[field] = &defaulted{When: show(comparison.Y), Value: "", Gate: gate}
			}
		}
	}
	for _, declaration := range file.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if ok && function.Name.Name == "SetDefaults_KubeletConfiguration" {
			read(function.Body.List, "")
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s has no defaults", name)
	}
	return found, nil
}

// below is the Go path of a field of obj, "" where the expression does not have one.
func below(expression ast.Expr) string {
	selector, ok := expression.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if inner, ok := selector.X.(*ast.Ident); ok && inner.Name == "obj" {
		return selector.Sel.Name
	}
	if path := below(selector.X); path != "" {
		return path + "." + selector.Sel.Name
	}
	return ""
}
