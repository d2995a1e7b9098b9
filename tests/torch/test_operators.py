"""Every operator that PyTorch has samples of (OpInfo), in all types, forward and backward: what Twinloom compiles is as
right as eager. A part that a seed draws is a run; TWINLOOM_OPERATORS=all runs all, TWINLOOM_OPERATORS=N a sample each of
N operators and types, which TWINLOOM_SEED draws. What was left to PyTorch is printed with its reason at the end
(pytest -rP)."""
import functools
import os
import random
import warnings

import operators
import pytest
import torch

PART = os.environ.get("TWINLOOM_OPERATORS", "500")
SEED = int(os.environ.get("TWINLOOM_SEED", "0"))
GROUPS = 16  # tests of as many operators each: a process that dies says which


@functools.cache
def chosen(device):
    """Names of operators and types, of a seed."""
    found = [(name, dtype) for name, op in sorted(operators.operators().items()) for dtype in operators.DTYPES
             if dtype in op.supported_dtypes(device)]
    if PART == "all":
        return found
    return sorted(random.Random(SEED).sample(found, min(int(PART), len(found))), key=str)


def samples_of(name, device, dtype):
    """One, or all."""
    samples = operators.samples_of(operators.operators()[name], device, dtype)
    return samples if PART == "all" or not samples else [random.Random(SEED).choice(samples)]


@pytest.fixture(params=["cpu", "cuda"])
def device(request):
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    with torch._dynamo.config.patch(recompile_limit=2**20), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield request.param
    torch._dynamo.reset()


@pytest.mark.parametrize("group", range(GROUPS))
def test_results_and_gradients_are_those_of_eager(group, device):
    outcome, count = operators.Outcome(), len(chosen(device))
    for name, dtype in chosen(device)[group * count // GROUPS:(group + 1) * count // GROUPS]:
        torch._dynamo.reset_code_caches()
        for sample in samples_of(name, device, dtype):
            operators.try_sample(operators.operators()[name], name, sample, dtype, outcome)
    print(f"{outcome.tried} samples, {outcome.compiled} of them in kernels of Twinloom; left to PyTorch:")
    for (operator, why), nodes in outcome.left.most_common():
        print(f"  {nodes:4} {operator}: {why}")
    assert not outcome.wrong, "\n".join(outcome.wrong)
    assert outcome.compiled


@pytest.mark.parametrize("given", [torch.tensor([1.001, 2]), torch.tensor([1, float("nan")]), torch.tensor([1.0]), None,
                                   torch.tensor([1, 2]), torch.tensor([1.0, 2.0], dtype=torch.float64)])
def test_what_is_wrong_is_seen(given):
    wanted = torch.tensor([1.0, 2.0])
    assert operators.difference(given, wanted, wanted.double())
    assert operators.difference(wanted, wanted, None) is None
