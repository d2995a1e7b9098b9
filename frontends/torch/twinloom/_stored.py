"""A compiled graph as what can be kept on disk: the Python that FX has written for it, and what its names stand for.

    def forward(self, args_list):
        x, w = args_list; args_list.clear()
        p = torch.mm(x, w)
        e = self.expect_0(p)                 layouts
        call = self.subgraph_0(e[0])         a text of the library, and how it is compiled
        return (call[0],)
"""
import dataclasses
import functools
import types

import torch
from torch._C import _autograd
from torch.fx.graph_module import _format_import_block
from torch.package.importer import sys_importer

from . import _library
from ._executable import Executable, Subgraph, side_by_side
from ._expect import Expect
from ._library import Error
from ._pytorch import ListCodeGen, OutputCode


@dataclasses.dataclass
class Written:
    """What a graph became. Pickles."""

    text: str  # that defines forward
    takes_list: bool  # which it empties
    names: dict  # attribute of self -> Subgraph, Expect or a tensor
    is_donating: bool  # results of subgraphs take the memory of what a forward pass saved

    @classmethod
    def of(cls, gm, code, takes_list, subgraphs):
        """Of a module and its code, and what some of its attributes are; Error where something cannot be kept."""
        names = {node.target: subgraphs.get(node.target) or _kept(getattr(gm, node.target, None), node.target)
                 for node in gm.graph.nodes if node.op in ("call_module", "get_attr")}
        try:
            imports = _format_import_block(code.globals, sys_importer)
        except Exception as error:
            raise Error(f"what the code names is not found again: {error}") from error
        return cls(imports + "\n" + code.src, takes_list, names, any(one.takes_saved for one in subgraphs.values()))

    def run(self, donates=True):
        """The function that the text defines, of a list, which it empties."""
        subgraphs = {name: one for name, one in self.names.items() if isinstance(one, Subgraph)}
        for one in subgraphs.values():
            _library.device(one.device, one.settings.cache)  # opened once
        made = side_by_side([functools.partial(one.compiled, donates) for one in subgraphs.values()])
        for one in made:
            if isinstance(one, Error):
                raise one
        others = {name: one.__call__ if isinstance(one, Expect) else one for name, one in self.names.items()}
        itself = types.SimpleNamespace(**{**others, **dict(zip(subgraphs, made))})
        return _function(self.text, {}, itself, self.takes_list)


def _kept(value, name):
    if isinstance(getattr(value, "__self__", None), Expect):
        return value.__self__
    if type(value) is torch.Tensor:
        return value
    raise Error(f"{name}, a {type(value).__name__}, is not kept on disk")


def _function(text, names, itself, takes_list):
    """The function forward of a text as one of a list, which it empties: no argument lives longer than its last use."""
    exec(compile(text, "<twinloom graph>", "exec"), names)  # noqa: S102, of our own words
    forward = types.MethodType(names["forward"], itself)

    def unboxed(arguments):
        given = list(arguments)
        arguments.clear()
        return forward(*given)

    return _boxed(functools.partial(forward if takes_list else unboxed))


def _boxed(run):
    run._boxed_call = True
    return run


class Stored(OutputCode):
    """A compiled graph, as AOTAutograd asks for what it may keep."""

    def __init__(self, run, written):
        """`written`: Written, or why there is none, an Error."""
        super().__init__()
        self.run, self.written, self._boxed_call = run, written, True

    @classmethod
    def of(cls, gm, subgraphs):
        """Of a module whose graph is spliced; `subgraphs`: attribute -> Subgraph."""
        takes_list = ListCodeGen is not None
        if takes_list:
            gm.graph.set_codegen(ListCodeGen())
        code = gm.graph.python_code("self")
        run = _function(code.src, dict(code.globals), gm, takes_list)
        try:
            written = Written.of(gm, code, takes_list, subgraphs)
        except Error as error:
            written = error
        return cls(run, written)

    def __call__(self, arguments):
        return self.run(arguments)

    def prepare_for_serialization(self):
        if isinstance(self.written, Error):
            raise self.written
        self.run = None

    def post_compile(self, example_inputs, constants, graph_kwargs):
        if self.run is None:
            self.run = self.written.run()
            self.leave_kept_alone()

    def set_triton_bundle(self, triton_bundle):
        """There is none."""

    def leave_kept_alone(self):
        """A backward pass that keeps its graph donates nothing. Gives whether that is so."""
        if isinstance(self.written, Error):
            return False
        if self.written.is_donating:
            self.run = _unless_kept(self.run, self.written)
        return True


def _unless_kept(donating, written):
    is_kept, others = _autograd._get_current_graph_task_keep_graph, []

    def run(arguments):
        if not is_kept():
            return donating(arguments)
        if not others:
            others.append(written.run(donates=False))
        return others[0](arguments)

    return _boxed(run)
