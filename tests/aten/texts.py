"""FX texts as PyTorch prints them, and the program that runs many of them."""

import argparse
import math
import subprocess

import torch

from drawing import DTYPES, NAMES


COMPLEX = {torch.complex64: "c64", torch.complex128: "c128"}


def as_pairs(value):
    """Complex tensors as Twinloom takes and gives them: with a last axis of 2."""
    if isinstance(value, torch.Tensor) and torch.is_complex(value):
        return torch.view_as_real(value.resolve_conj())
    return [as_pairs(one) for one in value] if isinstance(value, list) else value


def annotation(tensor):
    return f'"{NAMES.get(tensor.dtype) or COMPLEX[tensor.dtype]}[{", ".join(map(str, tensor.shape))}]"'


class Writer:
    """Arguments as text; each tensor becomes a parameter."""

    def __init__(self):
        self.tensors = []

    def value(self, value):
        if isinstance(value, torch.Tensor):
            self.tensors.append(value)
            return f"arg{len(self.tensors) - 1}_1"
        if isinstance(value, torch.dtype):
            return str(value)
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(map(self.value, value)) + "]"
        return repr(value)


def written(target, positional, keywords, result):
    """The text of one call and its tensors; `result` is what PyTorch gave, or None where it raised an error."""
    writer = Writer()
    words = [writer.value(value) for value in positional]
    words += [f"{name} = {writer.value(value)}" for name, value in keywords.items()]
    parameters = "".join(f", arg{k}_1: {annotation(tensor)}" for k, tensor in enumerate(writer.tensors))
    lines = ["class <lambda>(torch.nn.Module):", f"    def forward(self{parameters}):"]
    call = f"{target}({', '.join(words)})"
    if isinstance(result, torch.Tensor):
        lines += [f"        value: {annotation(result)} = {call}", "        return (value,)"]
    elif isinstance(result, (list, tuple)):
        lines.append(f"        value = {call}")
        for k, part in enumerate(result):
            printed = "" if part is None else f": {annotation(part)}"
            lines.append(f"        getitem_{k}{printed} = value[{k}]")
        lines.append("        return (" + "".join(f"getitem_{k}, " for k in range(len(result))) + ")")
    else:
        lines += [f"        value = {call}", "        return (value,)"]
    return "\n".join(lines) + "\n", writer.tensors


def bytes_of(tensor):
    plain = tensor.detach().contiguous()
    if plain.dtype == torch.bfloat16:
        plain = plain.view(torch.int16)
    return plain.numpy().tobytes()


def encoded(text, tensors):
    body = text.encode()
    parts = [f"case {len(body)} {len(tensors)}\n".encode(), body]
    for tensor in map(as_pairs, tensors):
        head = " ".join(map(str, [NAMES[tensor.dtype], tensor.dim(), *tensor.shape]))
        parts += [head.encode() + b"\n", bytes_of(tensor)]
    return b"".join(parts)


class Answers:
    """Reads what run_texts wrote."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def line(self):
        end = self.data.index(b"\n", self.at)
        line, self.at = self.data[self.at:end].decode(), end + 1
        return line.split()

    def take(self, count):
        if self.at + count > len(self.data):
            raise ValueError("cut off")
        self.at += count
        return self.data[self.at - count:self.at]

    def tensor(self):
        words = self.line()
        if words == ["none"]:
            return None
        dtype, sizes = DTYPES[words[0]], list(map(int, words[2:]))
        raw = torch.empty(sizes, dtype=dtype)
        data = self.take(math.prod(sizes) * raw.element_size())
        return torch.frombuffer(bytearray(data), dtype=dtype).reshape(sizes) if data else raw

    def next(self):
        """("ok", tensors), ("error", message) or ("bug", message)."""
        kind, count = self.line()
        if kind == "ok":
            return kind, [self.tensor() for _ in range(int(count))]
        return kind, self.take(int(count)).decode(errors="replace")


def run_all(program, execution, cases):
    """An answer for each (text, tensors). A process that dies answers ("crash", its end) and the next goes on."""
    answers = []
    while len(answers) < len(cases):
        data = b"".join(encoded(*case) for case in cases[len(answers):])
        done = subprocess.run([program, execution], input=data, capture_output=True)
        reader = Answers(done.stdout)
        try:
            while reader.at < len(reader.data):
                answers.append(reader.next())
        except ValueError:
            pass
        if len(answers) < len(cases):
            answers.append(("crash", f"exit code {done.returncode} {done.stderr[-300:].decode(errors='replace')}"))
    return answers


def parse_options(words, cases, cpu_share):
    """Of a program that compares drawn texts: so many cases, and of these the share that is compiled too, if nothing is said."""
    parser = argparse.ArgumentParser(description=words, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="tests/aten/run_texts, built")
    parser.add_argument("--cases", type=int, default=cases)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cpu-share", type=float, default=cpu_share, help="of the cases that are compiled too")
    parser.add_argument("--show", type=int, default=3, help="how many differences")
    return parser.parse_args()
