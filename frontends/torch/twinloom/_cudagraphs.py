"""Option `cudagraphs`: what a graph does on a GPU is recorded at its second call and played back at the later ones, by the trees
of CUDA graphs that torch.compile has for Inductor. A step's cost on the host is then a few launches.

Recorded are graphs that lie on one GPU, without sizes that only the run knows, without operators that cannot be recorded, and
that write no arguments but parameters and buffers. Others run as without the option.
"""
import torch
from torch._dynamo.backends import cudagraphs as backend
from torch._inductor.cudagraph_utils import BoxedDeviceIndex, get_placeholder_info


class Recorded:
    """Of one function: its graphs share a tree, and a backward pass that is not recorded says that it runs."""

    def __init__(self):
        self._device = BoxedDeviceIndex(None)

    def wrapped(self, gm, inputs, compile_it, is_backward=False, is_inference=False):
        """compile_it(), which changes the graph of a module, as a function that is played back where it can be."""
        static = _static(gm, is_backward)
        mutated = backend.find_input_mutations(gm.graph)
        why = _why_not(gm, static, mutated)
        if why is None:
            keywords = {"device_index": backend.get_device_index(gm), "stack_traces": backend.get_stack_traces(gm),
                        "placeholders": get_placeholder_info(gm.graph), "mutated_input_idxs": mutated}
        run = compile_it()
        if why is not None:
            return self._running_backward(run) if is_backward and self._device.value is not None else run
        from torch._inductor.cudagraph_trees import cudagraphify_impl
        self._device.set(keywords["device_index"])
        played = cudagraphify_impl(run, inputs, static, is_backward=is_backward, is_inference=is_inference, **keywords)
        played._boxed_call = True
        return played

    def _running_backward(self, run):
        from torch._inductor.cudagraph_trees import get_manager

        def heard(arguments):
            manager = get_manager(self._device.value, create_if_none_exists=False)
            if manager is not None:
                manager.set_to_running_backward()
            return run(arguments)

        heard._boxed_call = True
        return heard


def _static(gm, is_backward):
    """Positions of the arguments whose memory stays: parameters and buffers, or what a forward pass has saved."""
    if is_backward:
        from torch._inductor.utils import count_tangents
        return list(range(count_tangents(gm)))
    context = torch._guards.TracingContext.try_get()
    return list(context.fw_metadata.static_input_indices or ()) if context and context.fw_metadata else []


def _why_not(gm, static, mutated):
    """Why a graph is not recorded; nothing where it is."""
    values = [node.meta.get("val") for node in gm.graph.nodes if node.op == "placeholder"]
    if any(isinstance(one, torch.SymInt) for one in values):
        return "sizes are known only while it runs"
    if not mutated <= set(static):
        return "it writes an argument that is no parameter"
    devices = {one.device for one in (node.meta.get("val") for node in gm.graph.nodes) if isinstance(one, torch.Tensor)}
    if {one.type for one in devices} != {"cuda"}:
        return "it does not lie on a GPU"
    return backend.check_for_skip(gm, max(static, default=-1) + 1)
