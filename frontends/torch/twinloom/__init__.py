"""Twinloom behind torch.compile.

    model = torch.compile(model, backend="twinloom")                       # mode "fused"
    model = torch.compile(model, backend="twinloom", options={"mode": "strict"})
    print(twinloom.explain(function, *inputs))                             # what became a kernel, what did not, and why
    twinloom.export(model, *inputs, path="model.twinloom")                 # for C++, where all of the model is known

What Twinloom does not know yet runs in PyTorch, inside the same model.
"""
from ._backend import backend
from ._explain import explain
from ._export import export
from ._guards import storable_guards
from ._library import Error, version

__all__ = ["Error", "backend", "explain", "export", "storable_guards", "version"]
__version__ = "0.1.0"
