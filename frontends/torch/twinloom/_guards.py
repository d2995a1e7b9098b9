"""For torch._dynamo.config.caching_precompile, an experiment of PyTorch that keeps what Dynamo made of a frame: which of its
guards it can keep. Of the others, that functions and classes are still the same objects, nothing remains but what PyTorch
checks by itself when it loads a frame, the words of the functions that were traced.
"""
from ._pytorch import name_of_guard

UNSTORABLE = {"DICT_VERSION", "NN_MODULE", "ID_MATCH", "FUNCTION_MATCH", "CLASS_MATCH", "MODULE_MATCH", "CLOSURE_MATCH",
              "WEAKREF_ALIVE"}  # types of guards that CheckFunctionManager.serialize_guards refuses
INSIDE_FUNCTIONS = ("__closure__", "__code__", "__defaults__", "__kwdefaults__", "__mro__", "dict(type(")


def storable_guards(guards):
    """As torch.compile's option guard_filter_fn."""
    return [not UNSTORABLE & {one.guard_type, *one.derived_guard_types}
            and not any(word in name_of_guard(one) for word in INSIDE_FUNCTIONS) for one in guards]
