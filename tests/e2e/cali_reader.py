"""tests/e2e/cali_reader.py - read .cali text and json-split, by the rules of the formats.

Written from what is known of Caliper's formats alone; it raises where a file breaks a rule,
and shares nothing with the code that writes them.
"""
import json

# Predefined nodes: id -> (attribute, data, parent)
TYPES = {0: "usr", 1: "int", 2: "uint", 3: "string", 4: "addr", 5: "double", 6: "bool",
         7: "type"}
NAME, TYPE, PROPERTIES = 8, 9, 10
VALUE_BIT, NESTED_BIT, GLOBAL_BIT = 1, 256, 512


def split(line, separator):
    """The parts of LINE between separators that are not escaped, still escaped."""
    parts, at = [""], 0
    while at < len(line):
        if line[at] == "\\":
            parts[-1] += line[at:at + 2]
            at += 2
            continue
        if line[at] == separator:
            parts.append("")
        else:
            parts[-1] += line[at]
        at += 1
    return parts


def unescaped(text):
    out, at = "", 0
    while at < len(text):
        if text[at] == "\\":
            at += 1
            out += "\n" if text[at] == "n" else text[at]
        else:
            out += text[at]
        at += 1
    return out


class Reader:
    def __init__(self, text):
        self.nodes = {number: (TYPE, name, None) for number, name in TYPES.items()}
        self.nodes.update({NAME: (NAME, "cali.attribute.name", 3),
                           TYPE: (NAME, "cali.attribute.type", 7),
                           PROPERTIES: (NAME, "cali.attribute.prop", 1)})
        self.records, self.globals = [], {}
        if not text.endswith("\n"):
            raise ValueError("the last line has no end")
        for line in text[:-1].split("\n"):
            self.read(line)

    def read(self, line):
        parts = [split(part, "=") for part in split(line, ",")]
        fields = {part[0]: part[1:] for part in parts}
        if len(fields) != len(parts) or len(parts) < 2:
            raise ValueError(f"not a record: {line!r}")
        kind = fields.pop("__rec")[0]
        {"node": self.node, "ctx": self.context, "globals": self.end}[kind](fields)

    def node(self, fields):
        number = int(fields["id"][0])
        attribute = int(fields["attr"][0])
        parent = int(fields["parent"][0]) if "parent" in fields else None
        if number in self.nodes or number < 12:
            raise ValueError(f"node {number} is there already")
        for used in (attribute, parent):
            if used is not None and used not in self.nodes:
                raise ValueError(f"node {used} is used before it is defined")
        (data,) = fields["data"]
        self.nodes[number] = (attribute, unescaped(data), parent)

    def attribute(self, number):
        """Name, type and property bits of the attribute NUMBER."""
        kind, name, parent = self.nodes[number]
        if kind != NAME:
            raise ValueError(f"node {number} is no attribute")
        bits = None
        while self.nodes[parent][0] != TYPE:
            if self.nodes[parent][0] == PROPERTIES:
                bits = int(self.nodes[parent][1])
            parent = self.nodes[parent][2]
        return name, self.nodes[parent][1], bits

    def chain(self, number):
        """(attribute, value) of each node of a chain, outermost first."""
        steps = []
        while number is not None:
            steps.insert(0, self.nodes[number][:2])
            number = self.nodes[number][2]
        return steps

    def values(self, fields):
        row = {}
        for number in fields.get("ref", []):
            steps = self.chain(int(number))
            for attribute, value in steps:
                name, _, bits = self.attribute(attribute)
                if bits & VALUE_BIT:
                    raise ValueError(f"{name} is a value, not a reference")
                if bits & NESTED_BIT:
                    row.setdefault(name, []).append(value)
                    row.setdefault("path", []).append(value)
                elif len(steps) == 1:
                    row[name] = value
                else:
                    raise ValueError(f"{name} is not nested")
        attributes, data = fields.get("attr", []), fields.get("data", [])
        if len(attributes) != len(data):
            raise ValueError("attr and data differ in length")
        for number, text in zip(attributes, data):
            name, kind, bits = self.attribute(int(number))
            if not bits & VALUE_BIT:
                raise ValueError(f"{name} is a reference, not a value")
            row[name] = (int(text, 16) if kind == "addr" else
                         int(text) if kind in ("int", "uint") else
                         float(text) if kind == "double" else text)
        if not row:
            raise ValueError("an empty record")
        return row

    def context(self, fields):
        self.records.append(self.values(fields))

    def end(self, fields):
        for number in fields["ref"]:
            name, _, bits = self.attribute(self.nodes[int(number)][0])
            if not bits & GLOBAL_BIT:
                raise ValueError(f"{name} is not global")
        self.globals = self.values(fields)


def read_split(text):
    """Rows of a json-split file as dicts, with the path as a list of labels."""
    data = json.loads(text)
    columns, nodes = data["columns"], data["nodes"]
    if len(columns) != len(data["column_metadata"]):
        raise ValueError("columns and their metadata differ in length")
    for number, node in enumerate(nodes):
        if not 0 <= node.get("parent", 0) < max(number, 1):
            raise ValueError("a parent that does not come before its child")
    rows = []
    for values in data["data"]:
        if len(values) != len(columns):
            raise ValueError("a row of another length")
        row = {}
        for name, about, value in zip(columns, data["column_metadata"], values):
            if about["is_value"]:
                row[name] = value
                continue
            path = []
            while value is not None:
                if nodes[value]["column"] != name:
                    raise ValueError("a node of another column")
                path.insert(0, nodes[value]["label"])
                value = nodes[value].get("parent")
            row[name] = path
        rows.append(row)
    return rows
