"""Tensors that lie otherwise than they were traced where a call relies on it."""
import gc
import weakref

import pytest
import torch
from twinloom._expect import Expect, Layout
from twinloom._library import Error


def expecting(*traced, written=()):
    return Expect([Layout(one, k in written) for k, one in enumerate(traced)])


def test_what_lies_as_it_was_traced_is_given_as_it_is():
    expect = expecting(torch.empty(2, 3), torch.empty(4, dtype=torch.bfloat16))
    for given in [(torch.randn(2, 3), torch.ones(4).bfloat16()), (torch.randn(2, 3).requires_grad_(), torch.ones(4).bfloat16())] * 4:
        assert all(one is other for one, other in zip(expect(*given), given, strict=True))


@pytest.mark.parametrize("given", [torch.randn(3, 2).t(), torch.randn(2, 3).double(), torch.randn(2, 1).expand(2, 3),
                                   torch.randn(2, 6)[:, ::2]])
def test_what_lies_otherwise_is_copied(given):
    expect = expecting(torch.empty(2, 3), torch.empty(4))
    expect(torch.randn(2, 3), torch.randn(4))
    other = torch.randn(4)
    for _ in range(2):
        made, same = expect(given, other)
        assert made.stride() == (3, 1) and made.dtype is torch.float32 and same is other
        torch.testing.assert_close(made, given.float())


def test_rows_that_are_one_stay_one():
    made, = expecting(torch.empty(1, 3).expand(2, 3))(torch.ones(2, 1).expand(2, 3))
    assert made.stride() == (0, 1) and torch.equal(made, torch.ones(2, 3))


def test_what_cannot_be_copied_is_an_error():
    with pytest.raises(Error, match=r"a tensor is torch.float32\[3, 3\] with strides \[3, 1\]; traced was torch.float32\[2, 3\]"):
        expecting(torch.empty(2, 3))(torch.empty(3, 3))
    with pytest.raises(Error, match=r"strides \[1, 2\]; traced was .* with strides \[3, 1\]"):
        expecting(torch.empty(2, 3), written={0})(torch.empty(3, 2).t())


def test_no_tensor_is_kept():
    expect, given = expecting(torch.empty(2, 3)), torch.randn(2, 3)
    expect(given)
    expect(given)
    kept = weakref.ref(given)
    del given
    gc.collect()
    assert kept() is None
