"""The backend of torch.compile: what AOTAutograd traces is cut, its subgraphs are compiled, the rest stays as it is."""
import dataclasses
import functools
import inspect
import operator
import typing

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._subclasses import fake_tensor
from torch.fx.experimental.proxy_tensor import py_sym_types

from . import _known, _library
from ._accumulate import accumulate_products
from ._cudagraphs import Recorded
from ._direct import call_directly
from ._donate import donate, donated_placeholders, donates_no_more, products
from ._executable import Executable, Subgraph, shared_results, side_by_side
from ._expect import Expected
from ._freeze import freeze
from ._library import Error
from ._lowering import Builder, place_of, sizes_of, symbols_of
from ._padding import pad_products
from ._partition import cut
from ._splice import Part, splice
from ._stored import Stored
from ._writes import copy_together, count_together, write_inside


@dataclasses.dataclass(frozen=True)
class Settings:
    mode: str = "fused"  # strict, fused, fast
    relax: str = ""  # of fast: names with commas between them; all where it is empty
    products: bool = False  # takes products of matrices and sorts too, where they are known and PyTorch's are faster
    freeze: bool = False  # without gradients: what follows from parameters alone is computed when they change
    cudagraphs: bool = False  # on a GPU steps are recorded and played back
    gaps: bool = False  # without gradients: results of products may have gaps between their rows, which saves a copy
    cache: bool = True  # kernels and planned subgraphs are kept on disk, and found there

    @classmethod
    def of(cls, mode, options):
        options = dict(options or {})
        if mode not in (None, "default"):
            options.setdefault("mode", mode)
        known = {field.name for field in dataclasses.fields(cls)}
        wrong = sorted(set(options) - known)
        if wrong:
            raise Error(f"there is no option {wrong[0]!r}; options are {', '.join(sorted(known))}")
        settings = cls(**options)
        if settings.mode not in _library.MODES:
            raise Error(f"there is no mode {settings.mode!r}; modes are {', '.join(_library.MODES)}")
        return settings


@dataclasses.dataclass
class Compiled:
    """A traced graph after it was cut, for explanations."""

    kernels: list = dataclasses.field(default_factory=list)  # Executables
    left: list = dataclasses.field(default_factory=list)  # Left, what stays with PyTorch
    nodes: int = 0  # that are called, views at borders counted once


class Left(typing.NamedTuple):
    """A node that stays with PyTorch."""

    operator: str
    why: str
    place: tuple  # file and line that it was traced from


_listeners = []  # of explain(): lists to which each compiled graph is appended


@functools.cache
def decompositions():
    """Core ATen, without what is wrong or slower taken apart, and with what is better so."""
    import torch._inductor.decomposition as inductor
    from torch._decomp import core_aten_decompositions, global_decomposition_table
    from torch._decomp.decompositions import pw_cast_for_opmath
    aten = torch.ops.aten
    table = dict(core_aten_decompositions())
    # Its backward wants the sums of exponentials, which the decomposition does not give.
    table.pop(aten._scaled_dot_product_flash_attention_for_cpu.default, None)
    # Of softmaxes in parts a backward pass keeps what they were made of and a number a row, in place of a result in f32.
    wanted = (aten._log_softmax, aten._softmax, aten.native_dropout, aten.native_batch_norm, aten._native_batch_norm_legit,
              aten._native_batch_norm_legit_functional, aten.native_batch_norm_backward, aten.fmax, aten.fmin,
              aten.masked_scatter, aten.put, aten.index_reduce, aten.round.decimals, aten.ldexp, aten.view_copy,
              aten.unbind_copy, aten.permute_copy, aten.narrow_copy, aten.as_strided_copy)
    others = global_decomposition_table["post_autograd"]
    for overload, function in {**others, **inductor.decompositions}.items():
        if overload in wanted or getattr(overload, "overloadpacket", overload) in wanted:
            table[overload] = function
    table[aten.silu_backward.default] = pw_cast_for_opmath(_silu_backward)
    return table


def _silu_backward(gradient, value):
    """By a sigmoid, which a forward pass in the same graph has too, not by an exponential and a quotient."""
    sigmoid = torch.sigmoid(value)
    return gradient * sigmoid * (1 + value * (1 - sigmoid))


def works(node):
    """Whether a node is an operator: no element of what several give, and no arithmetic of sizes."""
    return node.target is not operator.getitem and not isinstance(node.meta.get("val"), py_sym_types)


def _name_of(target):
    """An operator's overload, or a function where it is found."""
    return f"{target.__module__ or 'torch'}.{target.__name__}" if inspect.isroutine(target) else str(target)


def device_of(graph):
    """Of the graph's tensors, a GPU before the CPU."""
    found = {one.device for node in graph.nodes for one in [node.meta.get("val")] if isinstance(one, torch.Tensor)}
    gpus = sorted((one for one in found if one.type == "cuda"), key=lambda one: one.index)
    return gpus[0] if gpus else torch.device("cpu")


def _build(nodes, symbols, tensors, results, copied):
    builder = Builder("subgraph")
    for name in symbols:
        builder.size(name)
    for node in tensors:
        builder.input(node)
    for node in nodes:
        if node.op == "call_function":
            builder.add(node)
    return builder.finish(results, copied)


def _compile_part(part, settings, device):
    """Error where the library refuses the whole."""
    sizes = [size for node in (*part.inputs, *part.nodes) for size in sizes_of(node)]
    symbols = sorted(symbols_of([*sizes, *(stride for node in part.results for stride in node.meta["val"].stride())]))
    graph = _build(part.nodes, symbols, part.inputs, part.results, [])
    shared = shared_results(graph, len(part.results))
    if shared:
        graph = _build(part.nodes, symbols, part.inputs, part.results, shared)
    donated = {number: node.name for number, node in enumerate(part.inputs) if node in part.donated}
    with fake_tensor.unset_fake_temporarily():
        return Executable(graph, Subgraph.of(graph, symbols, [node.meta["val"] for node in part.inputs],
                                             [node.meta["val"] for node in part.results], settings, device, donated,
                                             part.takes_saved, len(part.written)))


def _symbol_nodes(graph):
    """Name of a symbol -> a node that is its value: a parameter of the graph, or a size of one."""
    nodes = {}
    placeholders = [node for node in graph.nodes if node.op == "placeholder"]
    for node in placeholders:
        value = node.meta.get("val")
        if isinstance(value, torch.SymInt) and value.node.expr.is_symbol:
            nodes.setdefault(str(value.node.expr), node)
    for node in placeholders:
        value = node.meta.get("val")
        for axis, size in enumerate(value.shape if isinstance(value, torch.Tensor) else ()):
            if isinstance(size, torch.SymInt) and size.node.expr.is_symbol and str(size) not in nodes:
                with graph.inserting_after(placeholders[-1]):
                    made = graph.call_function(torch.ops.aten.sym_size.int, (node, axis))
                made.meta["val"] = size
                nodes[str(size)] = made
    return nodes


def _executable_of(part, settings, device, symbol_nodes):
    executable = _compile_part(part, settings, device)
    missing = [one for one in executable.symbols if one not in symbol_nodes]
    if missing:
        raise Error(f"the size {missing[0]} is known only while the graph runs")
    return executable


def _install(gm, calls, settings, device, symbol_nodes, compiled):
    """Compiles parts, which are then calls of attributes of the module. Gives attribute -> Subgraph."""
    executables, why, subgraphs = {}, {}, {}
    for part in calls:
        try:
            executables[part] = _executable_of(part, settings, device, symbol_nodes)
        except Error as error:
            why[part] = error
    # No module: calling one costs a microsecond.
    runs = side_by_side([executable.fast() for executable in executables.values()])
    why.update((part, run) for part, run in zip(executables, runs) if isinstance(run, Error))
    run_of = dict(zip(executables, runs))
    for number, part in enumerate(calls):
        if part in why:
            compiled.left.append(Left("a subgraph", str(why[part]), ("", 0)))
            continue
        executable = executables[part]
        compiled.kernels.append(executable)
        part.is_fixed = executable.is_fixed
        setattr(gm, f"subgraph_{number}", run_of[part])
        part.call = f"subgraph_{number}", [symbol_nodes[one] for one in executable.symbols]
        subgraphs[f"subgraph_{number}"] = executable.subgraph
    return subgraphs


def _wait_late(graph):
    """Collectives run beside what does not need them: their results are waited for right before their first use."""
    order = {node: number for number, node in enumerate(graph.nodes)}
    for node in reversed(list(graph.nodes)):
        if str(node.target) == "_c10d_functional.wait_tensor.default" and node.users:
            min(node.users, key=order.get).prepend(node)


def compile_graph(gm, example_inputs, *, settings, is_backward=False):
    """Compiles a graph of ATen operators, a Stored; called by AOTAutograd with FakeTensors."""
    device = device_of(gm.graph)
    _library.device(device, settings.cache)  # what is missing is an error, not a reason to leave all to PyTorch
    count_together(gm.graph)
    parts = cut(gm, device, settings.products)
    calls, inside = write_inside(gm.graph, [Part(nodes) for nodes in parts.partitions])
    compiled = Compiled(left=[Left(_name_of(node.target), why, place_of(node)) for node, why in parts.left.items()
                              if works(node) and node not in inside],
                        nodes=sum(node.op == "call_function" and works(node) for node in gm.graph.nodes))
    copy_together(gm.graph, inside)
    symbol_nodes = _symbol_nodes(gm.graph)
    donate(gm.graph, calls, [*(donated_placeholders(gm.graph) if is_backward else ()), *products(gm.graph)])
    subgraphs = _install(gm, calls, settings, device, symbol_nodes, compiled)
    splice(gm.graph, calls, Expected(gm, {node for part in calls for node in part.written}))
    _wait_late(gm.graph)
    call_directly(gm.graph)
    for listener in _listeners:
        listener.append(compiled)
    stored = Stored.of(gm, subgraphs)
    if is_backward and stored.leave_kept_alone():
        donates_no_more()
    return stored


def compile_inference(gm, example_inputs, *, settings):
    """A graph without gradients."""
    _prepare(gm, settings, settings.gaps)
    if not settings.freeze:
        return compile_graph(gm, example_inputs, settings=settings)
    positions = torch._guards.TracingContext.get().fw_metadata.static_input_indices
    with fake_tensor.unset_fake_temporarily():
        frozen = freeze(gm, positions)
    stored = compile_graph(gm, example_inputs, settings=settings)
    return stored if frozen is None else Stored(_behind(frozen, stored.run), Error("what is frozen is not kept on disk"))


def partition(gm, inputs, *, settings, **keywords):
    """Takes what AOTAutograd has traced apart into forward and backward pass, with what is saved between them."""
    _prepare(gm, settings)
    return min_cut_rematerialization_partition(gm, inputs, **keywords)


def _prepare(gm, settings, gaps=False):
    """`gaps`: what a caller gets may have some."""
    if settings.products:
        return
    pad_products(gm.graph, gaps)
    if settings.mode != "strict":
        accumulate_products(gm.graph)


def _behind(frozen, run):
    def both(arguments):
        frozen(arguments)
        return run(arguments)

    both._boxed_call = True
    return both


def backend(gm, example_inputs, *, mode=None, options=None):
    """What torch.compile(model, backend="twinloom") calls. Options: those of Settings."""
    settings = Settings.of(mode, options)
    known = None if _listeners else _known_or_kept(gm, example_inputs, settings)
    if known is not None:
        return known
    recorded = Recorded()

    def compiler(compile_it, **kind):
        def compiled(gm, inputs):
            def made():
                return compile_it(gm, inputs, settings=settings).run
            return recorded.wrapped(gm, inputs, made, **kind) if settings.cudagraphs else made()
        return compiled

    backward = functools.partial(compile_graph, is_backward=True)
    return aot_autograd(fw_compiler=compiler(compile_graph), bw_compiler=compiler(backward, is_backward=True),
                        inference_compiler=compiler(compile_inference, is_inference=True),
                        decompositions=decompositions(), keep_inference_input_mutations=True,
                        partition_fn=functools.partial(partition, settings=settings))(gm, example_inputs)


def _known_or_kept(gm, example_inputs, settings):
    """The function of a graph that was found on disk, or is kept there; nothing where it is to be compiled without."""
    try:
        if not _known.may_be_known(example_inputs, settings):
            return None
        lookup = _known.Lookup(gm, settings, decompositions)
        compilers = lookup.compilers(functools.partial(compile_graph, settings=settings),
                                     functools.partial(compile_graph, settings=settings, is_backward=True),
                                     functools.partial(compile_inference, settings=settings))
        with lookup.active():
            return aot_autograd(**compilers, keep_inference_input_mutations=True,
                                partition_fn=functools.partial(partition, settings=settings))(gm, example_inputs)
    except torch._dynamo.exc.TorchDynamoException:
        raise  # Dynamo is to begin again
    except Exception as error:  # one of the graph itself comes again
        _known.count("bypass", error)
        return None
