"""Random programs of views, values and operators in place, run by PyTorch while they are drawn."""

import random

import torch

from texts import annotation

MOST_ELEMENTS = 200
TO_THE_END = 2**63 - 1
aten = torch.ops.aten


def places_of(tensor):
    """Where in memory each element lies."""
    places = torch.zeros(tensor.shape, dtype=torch.int64) + tensor.storage_offset()
    for axis, stride in enumerate(tensor.stride()):
        steps = torch.arange(tensor.shape[axis]) * stride
        places += steps.reshape([-1 if k == axis else 1 for k in range(tensor.dim())])
    return places * tensor.element_size() + tensor.untyped_storage().data_ptr()


def is_undefined(written, read):
    """Whether a write depends on the order of elements, which PyTorch does not always see."""
    to, of = places_of(written), places_of(read)
    overlap = set(to.reshape(-1).tolist()) & set(of.reshape(-1).tolist())
    return to.unique().numel() < to.numel() or bool(overlap) and not torch.equal(to, of)


class Program:
    """A text, its inputs, and what PyTorch's tensors hold when all has run. What PyTorch refuses is not in the text."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = {}  # of tensors, as PyTorch has them
        self.rows = {}  # by name, of tensors in memory that lies row by row and without gaps: how many elements that has
        self.parameters, self.statements, self.inputs = [], [], []
        for _ in range(self.random.randint(1, 2)):
            self.add_parameter()
        for _ in range(self.random.randint(3, 14)):
            self.random.choice([self.look, self.look, self.write, self.write, self.compute])()

    def add_parameter(self):
        name = f"p{len(self.parameters)}"
        shape = [self.random.choice([1, 2, 3, 4]) for _ in range(self.random.randint(1, 3))]
        tensor = torch.tensor([self.random.randint(-9, 9) for _ in range(torch.Size(shape).numel())]).float().reshape(shape)
        self.inputs.append(tensor.clone())
        printed = annotation(tensor)
        if self.random.random() < 0.3:
            order = self.random.sample(range(len(shape)), len(shape))
            tensor = tensor.permute(order).contiguous().permute([order.index(axis) for axis in range(len(shape))])
            printed = f'{printed[:-1]}{list(tensor.stride())}cpu"'
        self.parameters.append(f"{name}: {printed}")
        self.keep(name, tensor, tensor.is_contiguous() and tensor.numel())

    def keep(self, name, tensor, row):
        self.names[name] = tensor
        if row:
            self.rows[name] = row

    def call(self, overload, *arguments):
        """The name and the tensor of the statement that is added; None where PyTorch refuses it."""
        try:
            result = overload(*(self.names[one] if isinstance(one, str) else one for one in arguments))
        except (RuntimeError, IndexError):
            return None
        name = f"v{len(self.statements)}"
        call = f"torch.ops.{overload}({', '.join(one if isinstance(one, str) else repr(one) for one in arguments)})"
        if not isinstance(result, torch.Tensor):
            chosen = self.random.randrange(len(result))
            self.statements.append(f"{name} = {call}")
            name, call, result = f"{name}_{chosen}", f"{name}[{chosen}]", result[chosen]
        if result.numel() > MOST_ELEMENTS or result.dim() > 5:
            return None
        self.statements.append(f"{name}: {annotation(result)} = {call}")
        return name, result

    def some(self):
        return self.random.choice(list(self.names))

    def axis(self, tensor):
        return self.random.randint(-tensor.dim(), tensor.dim() - 1) if tensor.dim() else 0

    def look(self):
        """A view of any of the tensors."""
        name = self.some()
        call = self.random.choice([self.moved, self.part, self.parts, self.strided])(name, self.names[name])
        made = call and self.call(*call)
        if made:
            may_copy = call[0] in (aten.reshape.default, aten.contiguous.default)
            self.keep(*made, None if may_copy else self.rows.get(name))

    def moved(self, name, tensor):
        axis, other = self.axis(tensor), self.axis(tensor)
        order = self.random.sample(range(tensor.dim()), tensor.dim())
        return self.random.choice([
            (aten.alias.default, name), (aten.detach.default, name), (aten.view.default, name, self.sizes(tensor)),
            (aten._unsafe_view.default, name, self.sizes(tensor)), (aten.reshape.default, name, self.sizes(tensor)),
            (aten.contiguous.default, name), (aten.permute.default, name, order), (aten.transpose.int, name, axis, other),
            (aten.t.default, name), (aten.squeeze.default, name), (aten.squeeze.dim, name, axis),
            (aten.unsqueeze.default, name, axis), (aten.expand.default, name, self.expanded(tensor)),
        ])

    def part(self, name, tensor):
        r, axis = self.random, self.axis(tensor)
        size = tensor.shape[axis] if tensor.dim() else 1
        return r.choice([
            (aten.slice.Tensor, name, axis, r.randint(-size, size), r.choice([size, TO_THE_END, -1, 2]), r.randint(1, 3)),
            (aten.select.int, name, axis, r.randint(-size, size)),
            (aten.diagonal.default, name, r.randint(-1, 2), axis, self.axis(tensor)),
            (aten.unfold.default, name, axis, r.randint(1, max(1, size)), r.randint(1, 2)),
        ])

    def parts(self, name, tensor):
        axis = self.axis(tensor)
        size = tensor.shape[axis] if tensor.dim() else 1
        first = self.random.randint(0, size)
        return self.random.choice([
            (aten.split.Tensor, name, self.random.randint(1, 3), axis), (aten.unbind.int, name, axis),
            (aten.split_with_sizes.default, name, [first, size - first], axis),
            (aten.chunk.default, name, self.random.randint(1, 3), axis),
        ]) if size else None

    def strided(self, name, tensor):
        """Anywhere in its memory, where that is one row."""
        sizes = [self.random.randint(1, 3) for _ in range(self.random.randint(0, 2))]
        strides = [self.random.randint(1, 4) for _ in sizes]
        room = self.rows.get(name, 0) - 1 - sum((size - 1) * stride for size, stride in zip(sizes, strides))
        return (aten.as_strided.default, name, sizes, strides, self.random.randint(0, room)) if room >= 0 else None

    def sizes(self, tensor):
        """Other sizes of as many elements."""
        left, sizes = tensor.numel(), []
        while left > 1 and len(sizes) < 3:
            sizes.append(self.random.choice([k for k in range(1, left + 1) if left % k == 0]))
            left //= sizes[-1]
        return sizes + [left]

    def expanded(self, tensor):
        front = [self.random.randint(1, 2)] if self.random.random() < 0.4 else []
        return front + [self.random.choice([-1, 2]) if size == 1 else -1 for size in tensor.shape]

    def compute(self):
        """A value in memory of its own."""
        name, other = self.some(), self.some()
        made = self.call(*self.random.choice([
            (aten.clone.default, name), (aten.neg.default, name), (aten.add.Tensor, name, other),
            (aten.add.Tensor, name, 1), (aten.add.Tensor, name, 0), (aten.zeros_like.default, name),
            (aten.flip.default, name, [0]), (aten.relu.default, name),
            (aten.sum.dim_IntList, name, [self.axis(self.names[name])]),
        ]))
        if made:
            self.keep(*made, made[1].is_contiguous() and made[1].numel())

    def write(self):
        name, other = self.some(), self.some()
        if is_undefined(self.names[name], self.names[other]):
            return
        made = self.call(*self.random.choice([
            (aten.add_.Tensor, name, self.random.randint(1, 3)), (aten.add_.Tensor, name, other),
            (aten.neg_.default, name), (aten.mul_.Tensor, name, -2), (aten.sub_.Tensor, name, other),
            (aten.copy_.default, name, other), (aten.fill_.Scalar, name, 7), (aten.fill_.Tensor, name, other),
            (aten.zero_.default, name), (aten.clamp_min_.default, name, -1),
        ]))
        if made:
            self.keep(*made, self.rows.get(name))

    def text(self):
        """Of all tensors, as they are in the end."""
        lines = ["class <lambda>(torch.nn.Module):", f"    def forward(self, {', '.join(self.parameters)}):"]
        lines += [f"        {statement}" for statement in self.statements]
        return "\n".join([*lines, f"        return ({''.join(f'{name}, ' for name in self.names)})"]) + "\n"

    def results(self):
        return list(self.names.values())
