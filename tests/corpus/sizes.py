"""Cuts the sizes of an FX text so that it runs in a moment and still means the same.

Each size of the annotations becomes a smaller one, the same number everywhere the same. Shapes that one
reshape joins give an equation of products, which the smaller numbers must fulfil too; sizes that are cut,
joined or padded along an axis stay. What the reader then refuses is tried with fewer sizes cut, and whole.
"""

import dataclasses
import math
import re

ANNOTATION = re.compile(r'"([a-z0-9]+)\[([^\]"]*)\](?:\[([^\]"]*)\])?([^"]*)"')
STATEMENT = re.compile(r'^\s+(\w+)(?:: "([^"]*)")? = torch\.ops\.(\w+)\.(\w+)\.(\w+)\((.*?)\)(?:;.*)?$')
PARAMETER = re.compile(r'(\w+): ("[^"]*")')
RESHAPES = {"view", "_unsafe_view", "reshape"}
# Operators with sizes in a list, by the position of the argument.
LISTS = {"view": 1, "_unsafe_view": 1, "reshape": 1, "expand": 1, "full": 0, "rand": 0, "new_empty_strided": 1,
         "inductor_randint": 2}
# Operators along an axis: its size stays in every shape that they read and write.
ALONG = {"cat", "split", "constant_pad_nd", "slice", "slice_scatter", "select", "select_scatter"}
# Operators whose shapes stay as they are: their last two axes, or all.
PLANES = {"avg_pool2d", "avg_pool2d_backward", "_adaptive_avg_pool2d", "_low_memory_max_pool_with_offsets",
          "_low_memory_max_pool_offsets_to_indices"}
WHOLE = {"repeat", "topk"}
STRIDED = {"as_strided", "as_strided_scatter"}
MOST_ELEMENTS = 40_000
LEAST_CUT = 8  # smaller sizes stay


@dataclasses.dataclass
class Statement:
    name: str
    operator: str
    arguments: str
    shape: tuple  # of the result, or None
    inputs: list  # shapes


def shape_of(text):
    return tuple(int(word) for word in text.split(",") if word.strip())


def parameters_of(text):
    header = text[text.index("def forward("):]
    header = header[:header.index("):")]
    found = []
    for name, annotation in PARAMETER.findall(header):
        match = ANNOTATION.fullmatch(annotation)
        strides = None if match[3] is None else shape_of(match[3])
        found.append((name, match[1], shape_of(match[2]), strides))
    return found


def bounds_of(gens, table):
    """The lowest and highest value of each integer input that the index says something about."""
    bounds = {}
    for name, (kind, *numbers) in gens.items():
        if kind == "const":
            bounds[name] = (numbers[0], numbers[0])
        else:
            low, high = numbers
            bounds[name] = (low, max(low, table.get(high, high) - 1))
    return bounds


def statements_of(text):
    shapes = {name: shape for name, _, shape, _ in parameters_of(text)}
    found = []
    for line in text.splitlines():
        match = STATEMENT.match(line)
        if match:
            name, annotation, _, operator, _, arguments = match.groups()
            inputs = [shapes[word] for word in re.findall(r"\w+", arguments) if word in shapes]
        else:
            match = re.match(r'^\s+(\w+): "([^"]*)" = (\w+)\[', line)
            if not match:
                continue
            name, annotation, _ = match.groups()
            operator, arguments, inputs = "getitem", "", []
        shape = None
        if annotation:
            shape = shapes[name] = shape_of(ANNOTATION.fullmatch(f'"{annotation}"')[2])
        found.append(Statement(name, operator, arguments, shape, inputs))
    return found


def groups_of(before, after):
    """The shortest runs of sizes with equal products."""
    groups, left, right = [], [], []
    before, after = list(before), list(after)
    while before or after:
        if math.prod(left) <= math.prod(right) and before or not after:
            left.append(before.pop(0))
        else:
            right.append(after.pop(0))
        if left and right and math.prod(left) == math.prod(right):
            groups.append((left, right))
            left, right = [], []
    return groups


def changed_axes(statement):
    """Sizes along an axis that a statement cuts, joins or pads."""
    stay = set()
    for shape in statement.inputs:
        if statement.shape is None or len(shape) != len(statement.shape):
            stay.update(shape)
            continue
        stay.update(size for pair in zip(shape, statement.shape) if pair[0] != pair[1] for size in pair)
    return stay


def axis_of(statement):
    """The axis of split and select."""
    words = re.sub(r"\[[^\]]*\]", "", statement.arguments).split(",")
    position = {"split": 2, "select": 1, "select_scatter": 2}[statement.operator]
    return int(words[position]) if len(words) > position else 0


def lists_of(statement):
    return [shape_of(part) for part in re.findall(r"\[([^\]]*)\]", statement.arguments)]


def is_dense(statement):
    """Whether a strided view is all of its base, in order."""
    sizes, strides = lists_of(statement)
    room = 1
    for size, stride in reversed(list(zip(sizes, strides))):
        if size != 1 and stride != room:
            return False
        room *= size
    return room == math.prod(statement.inputs[0])


def frozen_sizes(statements):
    frozen = set()
    for statement in statements:
        shapes = [*statement.inputs, statement.shape or ()]
        if statement.operator in PLANES:
            frozen.update(*(shape[-2:] for shape in shapes))
            frozen.update(int(word) for word in re.findall(r"\d+", statement.arguments))
        elif statement.operator in WHOLE or (statement.operator in STRIDED and not is_dense(statement)):
            frozen.update(*shapes)
        elif statement.operator in ("split", "select", "select_scatter"):
            frozen.add(statement.inputs[0][axis_of(statement)])
            if statement.operator == "split":
                frozen.update(int(word) for word in re.findall(r"\d+", statement.arguments.split(",")[1]))
        elif statement.operator in ALONG:
            frozen.update(changed_axes(statement))
    return frozen


class Cut:
    def __init__(self, text):
        statements = statements_of(text)
        shapes = [shape for _, _, shape, _ in parameters_of(text)]
        shapes += [statement.shape for statement in statements if statement.shape is not None]
        self.shapes = [shape for shape in set(shapes) if shape]
        self.frozen = frozen_sizes(statements)
        self.equations = []
        for statement in statements:
            after = statement.shape
            if statement.operator in STRIDED and is_dense(statement):
                after = lists_of(statement)[0]
            elif statement.operator not in RESHAPES:
                continue
            if after is not None and statement.inputs:
                for group in groups_of(statement.inputs[0], after):
                    if group[0] != group[1] and group not in self.equations:
                        self.equations.append(group)
        self.cut = {}  # size -> how many times smaller

    def now(self, size):
        return size // self.cut.get(size, 1)

    def elements(self):
        return max((math.prod(map(self.now, shape)) for shape in self.shapes), default=0)

    def _balanced(self, cut, left_to_try):
        """The first completion of `cut` that fulfils the equations, or None."""
        def product(sizes):
            return math.prod(size // cut.get(size, 1) for size in sizes)

        for left, right in self.equations:
            low, high = (left, right) if product(left) < product(right) else (right, left)
            if product(low) == product(high):
                continue
            if product(high) % product(low):
                return None
            factor = product(high) // product(low)
            for size in sorted(set(high), reverse=True):
                smaller = size // cut.get(size, 1)
                step = math.gcd(smaller, factor)
                if size in self.frozen or step == 1 or size < LEAST_CUT or left_to_try[0] == 0:
                    continue
                left_to_try[0] -= 1
                found = self._balanced({**cut, size: cut.get(size, 1) * step}, left_to_try)
                if found is not None:
                    return found
            return None
        return cut

    def divide(self, size, factor):
        found = self._balanced({**self.cut, size: self.cut.get(size, 1) * factor}, [200])
        if found is None:
            return False
        self.cut = found
        return True

    def run(self, only_first_axes):
        """Cuts the first axes of large tensors, then the largest sizes, until the tensors are small."""
        tried = set()
        while self.elements() > MOST_ELEMENTS:
            largest = max(self.shapes, key=lambda shape: math.prod(map(self.now, shape)))
            axes = largest[:1] if only_first_axes else (*largest[:1], *sorted(largest[1:], key=self.now, reverse=True))
            if not any(self._divide_once(size, tried) for size in axes):
                return
        return

    def _divide_once(self, size, tried):
        now = self.now(size)
        if size in self.frozen or now < LEAST_CUT:
            return False
        for factor in range(2, now // 2 + 1):
            if now % factor or (size, self.cut.get(size, 1), factor) in tried:
                continue
            tried.add((size, self.cut.get(size, 1), factor))
            return self.divide(size, factor) or self._divide_once(size, tried)
        return False


def cut_strides(shape, strides, now):
    """The strides of the smaller shape in the same order, with gaps in proportion."""
    result = [0] * len(shape)
    room, room_now = 1, 1
    for axis in sorted(range(len(shape)), key=lambda k: (strides[k], shape[k])):
        if strides[axis] == 0:
            continue
        gap = max(1, strides[axis] // room) if shape[axis] > 1 else 1
        result[axis] = room_now * gap
        if shape[axis] == 1:
            continue
        room, room_now = max(room, strides[axis] * shape[axis]), result[axis] * now(shape[axis])
    return tuple(result)


def written(text, now):
    """The text with each size replaced by now(size)."""
    def annotation(match):
        shape = shape_of(match[2])
        small = ", ".join(str(now(size)) for size in shape)
        if match[3] is None:
            return f'"{match[1]}[{small}]{match[4]}"'
        strides = ", ".join(map(str, cut_strides(shape, shape_of(match[3]), now)))
        return f'"{match[1]}[{small}][{strides}]{match[4]}"'

    def numbers(words):
        return re.sub(r"-?\d+", lambda word: str(now(int(word[0]))), words)

    def statement(line):
        match = STATEMENT.match(line)
        if not match:
            return line
        operator, arguments = match[4], match[6]
        if operator in LISTS:
            new = re.sub(r"\[[^\]]*\]", lambda part: numbers(part[0]), arguments, count=1)
        elif operator in STRIDED:
            before = lists_of(Statement(match[1], operator, arguments, None, []))
            new = re.sub(r"\[[^\]]*\]", lambda part: numbers(part[0]), arguments, count=1)
            strides = ", ".join(map(str, cut_strides(*before, now)))
            new = re.sub(r"(\],? ?)\[[^\]]*\]", lambda part: f"{part[1]}[{strides}]", new, count=1)
        elif operator == "arange":
            head, tail = arguments.split(",", 2)[:2], arguments.split(",", 2)[2]
            new = ",".join([*head[:1], numbers(head[1]), tail])
        else:
            return line
        return line.replace(f"({arguments})", f"({new})", 1)

    return "\n".join(statement(ANNOTATION.sub(annotation, line)) for line in text.splitlines()) + "\n"


def versions(text):
    """(text, now): the smallest first, the whole text last."""
    found = []
    for only_first_axes in (False, True):
        cut = Cut(text)
        cut.run(only_first_axes)
        table = {size: cut.now(size) for size in cut.cut}
        if table and table not in [other for _, other in found]:
            found.append((written(text, lambda size, table=table: table.get(size, size)), table))
    found.append((text, {}))
    return found
